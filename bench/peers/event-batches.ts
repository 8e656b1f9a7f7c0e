import { eventOf } from '../../localstack/embedded/event-source/batch.ts';
import { toEventRecord } from '../../localstack/embedded/event-source/event-record.ts';
import { createMemoryShardReader } from '../../shared/adapters/memory/memory-shard-reader.ts';
import { createMemoryStream } from '../../shared/adapters/memory/memory-stream.ts';
import { seededRandom } from '../../shared/core/random.ts';
import type { ShardReader } from '../../shared/ports/shard-reader.ts';
import type { CountedEvent, Totals } from '../embedded/counting-operator.ts';

export const keyChoices = ['uniform', 'zipf'] as const;
/** How keys are drawn: all alike, or the n-th most frequent one with 1/n of the weight of the first. */
export type KeyChoice = (typeof keyChoices)[number];

export interface BatchesShape {
  readonly keyChoice: KeyChoice;
  readonly keys: number;
  /** Batches that are measured. */
  readonly batches: number;
  readonly batchEvents: number;
}

/** Events of one shard as Lambda gets them, and what is to become of them. */
export interface EventBatches {
  /**
   * Events of Lambda as JSON text, which come first and are not measured. The first one has each key once, so that all are known
   * from then on.
   */
  readonly warmUps: readonly string[];
  /** Those that are measured: the same ones whatever comes before them, but for their ids. */
  readonly batches: readonly string[];
  /** Events in `batches`. */
  readonly measuredEvents: number;
  /** Totals of every key after all batches, worked out with nothing but a map. */
  readonly totals: ReadonlyMap<string, Totals>;
  /** The stream that the batches were cut from. */
  readonly reader: ShardReader;
}

/** Of an event's JSON. */
const eventBytes = 131;

/** The same batches for the same shape, in whatever process. */
export function createEventBatches(shape: BatchesShape, warmUpBatches: number): EventBatches {
  const { keys, batches, batchEvents } = shape;
  const stream = createMemoryStream();
  const totals = new Map<string, Totals>();
  let id = 0;
  const put = (keyAt: number, random: () => number): void => {
    const event = createEvent(id, `key-${keyAt}`, 1 + Math.floor(random() * 99));
    id += 1;
    const { count, sum } = totals.get(event.key) ?? { count: 0, sum: 0 };
    totals.set(event.key, { count: count + 1, sum: sum + event.amount });
    stream.put(event.key, new TextEncoder().encode(JSON.stringify(event)));
  };
  const putDrawn = (what: string, count: number): void => {
    const random = seededRandom(`${what} ${shape.keyChoice}`);
    const draw = createDraw(shape, random);
    for (let at = 0; at < count; at += 1) put(draw(), random);
  };
  const first = seededRandom('every key');
  for (let keyAt = 0; keyAt < keys; keyAt += 1) put(keyAt, first);
  const measuredEvents = batches * batchEvents;
  putDrawn('warm-up', warmUpBatches * batchEvents);
  putDrawn('events', measuredEvents);

  const [shard] = stream.shards();
  const records = shard!.records.map(({ sequence, ...record }) =>
    toEventRecord(
      { ...record, sequenceNumber: sequence },
      {
        shardId: shard!.shardId,
        streamArn: 'arn:aws:kinesis:us-east-1:000000000000:stream/events',
        region: 'us-east-1',
        roleArn: 'arn:aws:iam::000000000000:role/bench',
      },
    ),
  );
  const cuts = [eventOf(records.slice(0, keys))];
  for (let from = keys; from < records.length; from += batchEvents) {
    cuts.push(eventOf(records.slice(from, from + batchEvents)));
  }
  const warmUps = cuts.splice(0, 1 + warmUpBatches);
  return {
    warmUps,
    batches: cuts,
    measuredEvents,
    totals,
    reader: createMemoryShardReader(stream),
  };
}

function createDraw({ keyChoice, keys }: BatchesShape, random: () => number): () => number {
  if (keyChoice === 'uniform') return () => Math.floor(random() * keys);
  const bounds: number[] = [];
  for (let at = 0; at < keys; at += 1) bounds.push((bounds[at - 1] ?? 0) + 1 / (at + 1));
  return () => {
    const weight = random() * bounds[keys - 1]!;
    return bounds.findIndex((bound) => weight < bound);
  };
}

function createEvent(id: number, key: string, amount: number): CountedEvent {
  const event = { key, id, amount, note: '' };
  return { ...event, note: 'n'.repeat(eventBytes - JSON.stringify(event).length) };
}
