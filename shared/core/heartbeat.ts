import { timerTimeMax } from './timer.ts';

/*
 * A heartbeat bridges silence: a record that says, in the stream itself, how far event time has come. Its data is
 * `{"holdfast":"heartbeat","time":<ms since the epoch>}`; one is put into every shard, with an explicit hash key, so that it
 * has its place among the records and every replay sees it there (P11).
 */

const prefix = new TextEncoder().encode('{"holdfast":"heartbeat","time":');

export function encodeHeartbeat(time: number): Uint8Array {
  return new TextEncoder().encode(`{"holdfast":"heartbeat","time":${time}}`);
}

/** The time of a heartbeat, or undefined for any other data. */
export function decodeHeartbeat(data: Uint8Array): number | undefined {
  if (data.length < prefix.length || data[2] !== prefix[2]) return undefined;
  for (let at = 0; at < prefix.length; at += 1) if (data[at] !== prefix[at]) return undefined;
  const time = Number(new TextDecoder().decode(data.subarray(prefix.length, data.length - 1)));
  return Number.isInteger(time) && Math.abs(time) <= timerTimeMax ? time : undefined;
}
