/** `exists` may be our own write whose reply was lost: callers compare content or ids. */
export type CreateOutcome = 'created' | 'exists';

/**
 * Immutable objects under names with `/`. Reads see every acknowledged write. Objects are whole or absent.
 */
export interface ObjectStore {
  /** Creates the object; never replaces one (`If-None-Match: *`). */
  create(name: string, bytes: Uint8Array): Promise<CreateOutcome>;

  /** The object's bytes, or undefined where there is none. */
  read(name: string): Promise<Uint8Array | undefined>;

  /** The first `bytesMax` bytes (fewer where the object is smaller), or undefined where there is none. */
  readStart(name: string, bytesMax: number): Promise<Uint8Array | undefined>;

  /** `bytes` bytes from `offset` on (fewer where the object ends before), or undefined where there is no object. */
  readRange(name: string, offset: number, bytes: number): Promise<Uint8Array | undefined>;

  /** Deletes objects; those that do not exist are passed over. Returns after all are acknowledged. */
  remove(names: readonly string[]): Promise<void>;

  /** Names with a prefix, in alphabetical order. */
  list(prefix: string): AsyncIterable<string>;
}
