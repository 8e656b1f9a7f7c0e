import { Packr } from 'msgpackr';
import { isPast, type Position } from '../../shared/core/position.ts';
import type { BenchEvent } from './events.ts';

/*
 * What plain TypeScript can do with the same events on this machine, and no product can do less: loops without a schema,
 * a store, a commit or a second chance.
 */

/** The part of a Lambda event that is read. */
export interface KinesisEvent {
  readonly Records: readonly {
    readonly kinesis: { readonly data: string; readonly sequenceNumber: string };
  }[];
}

/** Takes one batch. Returns something that depends on all of it, so that nothing can be left out. */
export type Floor = (event: KinesisEvent) => number;

/** Base64, JSON, and a sum and a count for each key in a Map. */
export function createDecodeFloor(): Floor {
  const states = new Map<string, { sum: number; count: number }>();
  return ({ Records }) => {
    for (const { kinesis } of Records) {
      const event = decode(kinesis.data);
      const state = states.get(event.key);
      if (state === undefined) states.set(event.key, { sum: event.amount, count: 1 });
      else {
        state.sum += event.amount;
        state.count += 1;
      }
    }
    return states.size;
  };
}

const packr = new Packr({ useRecords: false });

/** The same, and records that have been applied to their key are passed over, and each key that changed is packed. */
export function createStateFloor(): Floor {
  const states = new Map<string, { sum: number; count: number; last: Position | undefined }>();
  return ({ Records }) => {
    const dirty = new Set<string>();
    for (const { kinesis } of Records) {
      const event = decode(kinesis.data);
      let state = states.get(event.key);
      if (state === undefined)
        states.set(event.key, (state = { sum: 0, count: 0, last: undefined }));
      const position = { sequence: kinesis.sequenceNumber, sub: 0 };
      if (!isPast(position, state.last)) continue;
      state.sum += event.amount;
      state.count += 1;
      state.last = position;
      dirty.add(event.key);
    }
    let bytes = 0;
    for (const key of dirty) {
      const { sum, count } = states.get(key)!;
      bytes += packr.pack({ sum: [1, sum], count: [1, count] }).length;
    }
    return bytes;
  };
}

function decode(data: string): BenchEvent {
  return JSON.parse(Buffer.from(data, 'base64').toString()) as BenchEvent;
}
