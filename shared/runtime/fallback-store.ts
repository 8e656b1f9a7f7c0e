import { isHoldfastError } from '../core/errors.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import { hasObject } from './has-object.ts';

/**
 * Throws a HoldfastError where the bytes of an object cannot be what was written under its name, or cannot be read by this code: a
 * bit may have flipped in its version.
 */
export type ObjectCheck = (name: string, bytes: Uint8Array) => void;

/** Where a sound copy of an object is; `damaged`: there are copies, and none is sound. */
export type CopyPlace = 'primary' | 'backup' | 'damaged' | 'nowhere';

/** A store with a second place to read from. */
export interface FallbackStore extends ObjectStore {
  /** What is there without the backup. */
  readonly primary: ObjectStore;
  /** Finds a sound copy of an object: reads it whole, from the primary first. */
  locate(name: string): Promise<CopyPlace>;
  /**
   * Puts the sound copy of the backup into the place of an object that is missing or damaged; what is sound stays. Between the
   * removal of a damaged object and its successor there is none: whoever dies there has to come again, as does a twin.
   */
  repair(name: string): Promise<void>;
}

/**
 * Reads each object by itself from the primary, and where it is missing there or damaged, from the backup, under the same name.
 * Where no copy is sound a reader gets the damaged one, and says itself what is wrong with it. What is written goes into the
 * primary alone; a name that the backup has is taken.
 *
 * Every object is read whole once, by its first reader, however little that one asks for: it is for the one time that the primary
 * is not to be trusted.
 */
export function createFallbackStore(
  primary: ObjectStore,
  backup: ObjectStore,
  check: ObjectCheck,
): FallbackStore {
  // Objects never change, so that what was found sound stays so.
  const known = new Map<string, ObjectStore>();

  const isSound = (name: string, bytes: Uint8Array): boolean => {
    try {
      check(name, bytes);
      return true;
    } catch (thrown) {
      if (isHoldfastError(thrown)) return false;
      throw thrown;
    }
  };

  const find = async (name: string): Promise<{ place: CopyPlace; bytes?: Uint8Array }> => {
    let damaged: Uint8Array | undefined;
    for (const [place, store] of [
      ['primary', primary],
      ['backup', backup],
    ] as const) {
      const bytes = await store.read(name);
      if (bytes === undefined) continue;
      if (isSound(name, bytes)) {
        known.set(name, store);
        return { place, bytes };
      }
      damaged ??= bytes;
    }
    return damaged === undefined ? { place: 'nowhere' } : { place: 'damaged', bytes: damaged };
  };

  const storeOf = async (name: string): Promise<ObjectStore> => {
    if (!known.has(name)) await find(name);
    return known.get(name) ?? primary;
  };

  return {
    primary,

    async locate(name) {
      return (await find(name)).place;
    },

    async repair(name) {
      const { place, bytes } = await find(name);
      if (place !== 'backup' || bytes === undefined) return;
      await primary.remove([name]);
      await primary.create(name, bytes);
      known.delete(name);
    },

    async create(name, bytes) {
      if (await hasObject(backup, name)) return 'exists';
      return primary.create(name, bytes);
    },

    async read(name) {
      const store = known.get(name);
      return store === undefined ? (await find(name)).bytes : store.read(name);
    },

    readStart: async (name, bytesMax) => (await storeOf(name)).readStart(name, bytesMax),

    readRange: async (name, offset, bytes) => (await storeOf(name)).readRange(name, offset, bytes),

    remove: (names) => primary.remove(names),

    async *list(prefix) {
      const names = new Set<string>();
      for (const store of [primary, backup]) {
        for await (const name of store.list(prefix)) names.add(name);
      }
      yield* [...names].sort();
    },
  };
}
