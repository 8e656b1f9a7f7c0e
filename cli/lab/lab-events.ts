import { readFileSync } from 'node:fs';
import * as z from 'zod';
import {
  createMemoryStream,
  type MemoryStream,
} from '../../shared/adapters/memory/memory-stream.ts';
import { isPast, type Position } from '../../shared/core/position.ts';
import type { StreamRecord } from '../../shared/ports/shard-reader.ts';
import { labKey, type LabEvent } from './lab-operator.ts';

/** A record of the lab's stream with its number, from 1; the last one, `flush`, ends the stream. */
export interface LabRecord {
  readonly number: number;
  readonly record: StreamRecord;
}

/** A stream of one shard that holds all events of the lab, so that every run sees the same records. */
export interface LabStream {
  readonly stream: MemoryStream;
  readonly shardId: string;
  /** How many events there are, without the one that ends the stream. */
  readonly events: number;
  /** The records past a position, in order. */
  recordsPast(position: Position | undefined): LabRecord[];
  /** What an output is called after: the number of the event that caused it, or `flush`. */
  nameOf(position: Position): string;
  /** The number of the event that caused an output. */
  numberOf(position: Position): number;
}

const file = new URL('./crash-lab-30-events.jsonl', import.meta.url);

const line = z.object({ index: z.number(), ts: z.number(), value: z.number() });

export function createLabStream(): LabStream {
  const measurements = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((text) => line.parse(JSON.parse(text)));
  const latest = Math.max(...measurements.map(({ ts }) => ts));
  const events: LabEvent[] = [
    ...measurements.map(({ ts, value }) => ({ ts, value, isLast: false })),
    { ts: latest, value: 0, isLast: true },
  ];
  const stream = createMemoryStream();
  const encoder = new TextEncoder();
  for (const event of events) stream.put(labKey, encoder.encode(JSON.stringify(event)));
  const { shardId, records } = stream.shards()[0]!;
  const numbers = new Map(records.map(({ sequence }, at) => [sequence, at + 1]));
  const numberOf = ({ sequence }: Position): number => numbers.get(sequence)!;
  return {
    stream,
    shardId,
    events: measurements.length,
    recordsPast: (position) =>
      records
        .map((record, at) => ({ number: at + 1, record }))
        .filter(({ record }) => isPast({ sequence: record.sequence, sub: 0 }, position)),
    nameOf(position) {
      const number = numberOf(position);
      return number > measurements.length ? 'flush' : String(number);
    },
    numberOf,
  };
}
