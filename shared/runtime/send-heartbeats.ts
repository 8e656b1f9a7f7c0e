import { HoldfastError } from '../core/errors.ts';
import { decodeHeartbeat, encodeHeartbeat } from '../core/heartbeat.ts';
import type { ShardWriter } from '../ports/shard-writer.ts';
import type { System } from '../ports/system.ts';

/** What was said to a stream. */
export interface SentHeartbeats {
  /** The watermark that the heartbeats carry, ms since the epoch. */
  readonly time: number;
  /** How many open shards got one. */
  readonly shards: number;
}

/**
 * Tells every open shard how far event time has come: to `behindMs` before now. The clock is read here, once, and what it
 * said travels as data, so that every replay sees the same (P11). It is read before anything else: whatever takes long
 * afterwards only makes the heartbeats say less than they could.
 *
 * It may run twice, at once, or late: a watermark is the greatest of what the records so far have said, so a heartbeat
 * that says less than another one before it changes nothing. Of a shard that closes between list and put the heartbeat
 * reaches one child; the next call reaches all.
 */
export async function sendHeartbeats(
  { writer, system }: { readonly writer: ShardWriter; readonly system: System },
  behindMs: number,
): Promise<SentHeartbeats> {
  return putHeartbeats(writer, system.now() - behindMs);
}

/**
 * Puts a heartbeat of this time into every open shard. `endOfStreamMs` closes all windows.
 *
 * @param time a whole number of ms since the epoch
 * @throws HoldfastError `invalid` for a time that no reader would take; others as {@link ShardWriter.putAt}
 */
export async function putHeartbeats(writer: ShardWriter, time: number): Promise<SentHeartbeats> {
  const data = encodeHeartbeat(time);
  // What does not read as a heartbeat would be taken for an event, and dead-lettered.
  if (decodeHeartbeat(data) !== time) {
    throw new HoldfastError(
      'invalid',
      `a heartbeat cannot carry the time ${time}; expected a whole number of milliseconds since the epoch that is a date`,
    );
  }
  const shards = await writer.listOpenShards();
  await writer.putAt(
    shards.map(({ range }) => range.from),
    data,
  );
  return { time, shards: shards.length };
}
