import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { createLambdaStreamMappings } from '../../../shared/adapters/lambda/lambda-stream-mappings.ts';
import { nodeSystem } from '../../../shared/adapters/system/node-system.ts';
import { doctorRetryPolicy } from '../clinic.ts';
import { differs, firstDifference, works, type Finding, type Probe } from '../finding.ts';
import { middleHash, splitShard } from '../kinesis/reshard.ts';
import { createStream } from '../kinesis/stream-bed.ts';
import { waitFor } from '../poll-until.ts';
import {
  acceptedNumbers,
  judgeArrival,
  judgeHandBack,
  judgeOrder,
  judgeParentFirst,
  judgeThrow,
} from './judge-deliveries.ts';
import { createMapping, putRecords, watchDeliveries, type MappingBed } from './mapping-bed.ts';
import type { Delivery, WitnessRecord } from './witness-orders.ts';

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, at) => from + at);

/** In the stream before there is a mapping. */
const rootNumbers = range(0, 16);
const handedBack = 5;
const thrownAt = 10;

/** Put into the shard just before it is split. */
const leftNumbers = range(16, 24);

/** Put into the children just after the split. */
const childNumbers = { lower: range(100, 104), upper: range(200, 204) };

const hasAll =
  (numbers: readonly number[]) =>
  (deliveries: readonly Delivery[]): boolean => {
    const accepted = acceptedNumbers(deliveries);
    return numbers.every((number) => accepted.has(number));
  };

const settings: Probe<MappingBed> = {
  capability: 'a mapping is told as it was made',
  need: { kind: 'needed', text: 'a restore refuses a trigger that may give batches up' },
  timeLimitMs: 60_000,
  run: async (bed) => {
    const { source, witness } = bed;
    await putRecords(source, rootNumbers.map(actOf));
    const id = await createMapping(bed, source.arn);
    const options = { client: witness.client, mappings: new Map([['probe', id]]) };
    const found = await createLambdaStreamMappings({
      ...{ ...options, system: nodeSystem, retryPolicy: doctorRetryPolicy },
    }).read('probe');
    const expected = {
      ...{ source: source.arn, startingPosition: 'TRIM_HORIZON', parallelizationFactor: 1 },
      ...{ retriesMax: -1, recordAgeSecondsMax: -1, hasFilters: false, bisectsOnError: false },
      ...{ tumblingWindowSeconds: 0, reportsItemFailures: true, isEnabled: true },
    };
    const wrong = Object.entries(expected).filter(
      ([name, value]) => found?.[name as keyof typeof expected] !== value,
    );
    return firstDifference([
      wrong.length === 0,
      wrong.map(([name, value]) => `${name} ${value}`).join(', '),
      found === undefined
        ? 'no such mapping'
        : wrong.map(([name]) => `${name} ${found[name as keyof typeof expected]}`).join(', '),
    ]);
  },
};

const arrival: Probe<MappingBed> = {
  capability: 'records that are there already are delivered, from the oldest on',
  need: { kind: 'needed', text: 'the trigger of every operator' },
  timeLimitMs: 60_000,
  run: async (bed) => {
    bed.seen = await watchDeliveries(bed, hasAll(rootNumbers), 40_000);
    const first = bed.seen[0]?.numbers[0];
    return firstDifference(
      [bed.seen.length > 0, 'batches', 'none'],
      [first === rootNumbers[0], `record ${rootNumbers[0]} at first`, `${first}`],
    );
  },
};

const handBacks: Probe<MappingBed> = {
  capability: 'records that are handed back come again',
  need: {
    kind: 'needed',
    text: 'what a batch had no time for is lost otherwise; Holdfast cannot adapt to that',
  },
  run: (bed) => Promise.resolve(judgeHandBack(bed.seen)),
};

const throws: Probe<MappingBed> = {
  capability: 'a batch at which the function throws comes again',
  need: { kind: 'needed', text: 'a function that dies hands nothing back' },
  run: (bed) => Promise.resolve(judgeThrow(bed.seen)),
};

const order: Probe<MappingBed> = {
  capability: 'batches of a shard come in order',
  need: { kind: 'adapted', text: "Holdfast's own reader fills gaps that it sees" },
  run: ({ seen, rootId }) => Promise.resolve(judgeOrder(seen, rootId)),
};

const restOfParent: Probe<MappingBed> = {
  capability: 'a split: what is left in the parent is delivered',
  need: {
    kind: 'adapted',
    text: "the children wait, and Holdfast's own reader reads a parent that is still there to its end",
  },
  timeLimitMs: 120_000,
  run: splitAndJudgeParent,
};

const startOfChildren: Probe<MappingBed> = {
  capability: 'a split: children are delivered from their start',
  need: {
    kind: 'adapted',
    text: "Holdfast's own reader reads what lies before a child's first batch, or the coordinator does",
  },
  run: ({ seen }) => {
    const { lower, upper } = childNumbers;
    return Promise.resolve(judgeArrival(seen, [...lower, ...upper], 'records of both children'));
  },
};

const parentFirst: Probe<MappingBed> = {
  capability: 'a split: the parent comes before its children',
  need: { kind: 'adapted', text: 'children wait for their parents' },
  run: ({ seen, rootId }) => Promise.resolve(judgeParentFirst(seen, rootId, leftNumbers)),
};

const destination: Probe<MappingBed> = {
  capability: 'what is given up goes to the bucket',
  need: { kind: 'optional', text: 'the last resort: the mappings of a job give nothing up' },
  timeLimitMs: 60_000,
  run: probeDestination,
};

/** What the trigger of an operator does. The later ones go on with what the earlier ones have seen. */
export const mappingProbes = [
  settings,
  arrival,
  handBacks,
  throws,
  order,
  restOfParent,
  startOfChildren,
  parentFirst,
  destination,
];

function actOf(number: number): WitnessRecord {
  if (number === handedBack) return { number, act: 'hand-back-once' };
  return number === thrownAt ? { number, act: 'throw-once' } : { number };
}

async function splitAndJudgeParent(bed: MappingBed): Promise<Finding> {
  const { source, rootId } = bed;
  await putRecords(
    source,
    leftNumbers.map((number) => ({ number })),
  );
  await splitShard(source, rootId);
  const { lower, upper } = childNumbers;
  for (const [numbers, hash] of [
    [lower, 0n],
    [upper, BigInt(`0x${middleHash}`)],
  ] as const) {
    await putRecords(
      source,
      numbers.map((number) => ({ number })),
      hash,
    );
  }
  const all = [...leftNumbers, ...lower, ...upper];
  bed.seen = await watchDeliveries(bed, hasAll(all), 60_000);
  return judgeArrival(bed.seen, leftNumbers, 'records of the closed parent');
}

async function probeDestination(bed: MappingBed): Promise<Finding> {
  const { supplies, bucket } = bed;
  const { clients, temporary, patience } = supplies;
  const doomed = await createStream(clients.kinesis, temporary, 'doomed');
  await putRecords(doomed, [{ number: 0, act: 'throw-always' }]);
  const id = await createMapping(bed, doomed.arn, { MaximumRetryAttempts: 0 });
  const key = `aws/lambda/${id}/`;
  let found: string | undefined;
  await waitFor(
    async () => {
      const list = new ListObjectsV2Command({ Bucket: bucket });
      found = (await clients.s3.send(list)).Contents?.[0]?.Key;
      return found !== undefined;
    },
    { limitMs: 20_000 * patience },
  );
  if (found === undefined) return differs(`an object under ${key}`, 'none within 20 s');
  return found.startsWith(key) ? works : differs(`an object under ${key}`, found);
}
