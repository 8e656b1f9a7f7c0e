import type { Totals } from '../embedded/counting-operator.ts';

/** One way to keep totals for each key, in a process of its own. */
export interface Peer {
  /** Makes tables and all else that is there before the first event; not measured. */
  prepare(): Promise<void>;
  /** Takes an event of Lambda, as JSON text; afterwards all of it is where it stays. */
  deliver(event: string): Promise<void>;
  /** What is kept of every key now. */
  readTotals(): Promise<ReadonlyMap<string, Totals>>;
  /** Requests so far that no emulator sees. */
  readonly ownRequests?: () => number;
  /** CPU of servers so far that take part beside the emulators, µs; undefined where the platform does not tell. */
  readonly serverCpuMicros?: () => number | undefined;
  close(): Promise<void>;
}

/** The fields of a record in an event of Lambda that peers read. */
export interface KinesisEventRecord {
  /** `<shard>:<sequence number>`; the same whenever the record is delivered. */
  readonly eventID: string;
  readonly kinesis: { readonly data: string; readonly sequenceNumber: string };
}

export interface KinesisEvent {
  readonly Records: readonly KinesisEventRecord[];
}

export function decodeData<Event>({ kinesis }: KinesisEventRecord): Event {
  return JSON.parse(Buffer.from(kinesis.data, 'base64').toString()) as Event;
}
