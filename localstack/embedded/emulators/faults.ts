/** What a fault hook sees of a request, before anything was done for it. */
export interface EmulatorRequest {
  /** API operation, e.g. `BatchExecuteStatement` or `PutObject`. */
  readonly operation: string;
  /** DynamoDB: the table, or the first one that the request names. S3: the bucket. */
  readonly table: string | undefined;
  /** S3: the object's key. */
  readonly key?: string | undefined;
  /** DynamoDB: the parsed JSON. S3: the raw bytes as sent (checksum trailers included), if any. */
  readonly body: unknown;
}

export type Fault =
  /** The request is handled after the delay, even if its client has given up: a zombie's write. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** The connection breaks and nothing is done. */
  | { readonly kind: 'drop-before' }
  /** All is done, then the connection breaks in place of the reply. */
  | { readonly kind: 'drop-after' }
  /**
   * Refused for capacity. `only` throttles some parts of a batch and serves the rest: positions of
   * statements (BatchExecuteStatement) or of keys in order of the request (BatchGetItem).
   */
  | { readonly kind: 'throttle'; readonly only?: readonly number[] };

/** Called for every request; `undefined` lets it pass. */
export type FaultHook = (
  request: EmulatorRequest,
) => Promise<Fault | undefined> | Fault | undefined;

/** Options and method of an emulator that can be told to misbehave. */
export interface FaultOptions {
  readonly onRequest?: FaultHook;
}

export interface Faulty {
  /** Replaces the hook; `undefined` removes it. Requests already asked keep their answer. */
  setFaultHook(hook: FaultHook | undefined): void;
}
