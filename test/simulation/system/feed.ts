import {
  createMemoryStream,
  type MemoryStream,
} from '../../../shared/adapters/memory/memory-stream.ts';
import { encodeHeartbeat } from '../../../shared/core/heartbeat.ts';
import type { Message, Part } from '../engine/ledger.ts';
import { retentionHours } from './draw-plan.ts';

/** A stream, and everything that was put into it: one job reads it, or several do. */
export interface Feed {
  readonly stream: MemoryStream;
  /** By sequence number; another map each time, since a story is told once for each. */
  entries(): ReadonlyMap<string, readonly Part[]>;
  put(account: string, message: Message): void;
  /** Puts a heartbeat into an open shard. */
  putHeartbeat(shardId: string, at: number): void;
}

export function createFeed(now: () => number, shards: number): Feed {
  const stream = createMemoryStream({ shards, retentionHours, now });
  let entries: ReadonlyMap<string, readonly Part[]> = new Map();
  // Records arrive by a clock of their own, a little later each, so that arrival timers have something to wait for.
  let arrivalMs = now();
  const put = (key: string, message: Message, explicitHashKey?: string): void => {
    arrivalMs += 1;
    const { sequence } = stream.put(key, encodeMessage(message), {
      arrivalMs,
      ...(explicitHashKey === undefined ? {} : { explicitHashKey }),
    });
    entries = new Map([...entries, [sequence, [{ key, message }]]]);
  };
  return {
    stream,
    entries: () => entries,
    put: (account, message) => put(account, message),
    putHeartbeat(shardId, at) {
      const { from } = stream.shard(shardId).range;
      put('heartbeat', { kind: 'heartbeat', at }, BigInt(`0x${from}`).toString());
    },
  };
}

function encodeMessage(message: Message): Uint8Array {
  if (message !== 'garbage' && message.kind === 'heartbeat') return encodeHeartbeat(message.at);
  return new TextEncoder().encode(message === 'garbage' ? '{' : JSON.stringify(message));
}
