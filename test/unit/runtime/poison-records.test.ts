import { describe, expect, it } from 'vitest';
import { foreignKeyOf } from '../../../shared/core/channel.ts';
import { createJob, deliverUntilDone, encodeJson, firstShard, type Job } from './job-fixture.ts';

const lowShard = firstShard;
const highShard = 'shardId-000000000001';
// The MD5 of "ann" is 7e0d…, of "dan" 9180…, of "kim" fb1e…: one in the lower half of the hash space, two in the upper.
const lowKey = 'ann';
const highKey = 'dan';

interface Poison {
  readonly reason: string;
  readonly message: string;
  readonly partitionKey: string;
  readonly data: Uint8Array;
  put(job: Job): void;
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const poison = (
  reason: string,
  message: string,
  data: Uint8Array,
  {
    partitionKey = lowKey,
    explicitHashKey,
  }: { partitionKey?: string; explicitHashKey?: string } = {},
): Poison => ({
  reason,
  message,
  partitionKey,
  data,
  put: (job) =>
    job.putRaw(partitionKey, data, explicitHashKey === undefined ? {} : { explicitHashKey }),
});

const poisons: [string, Poison][] = [
  ['is no JSON', poison('undecodable', 'JSON', bytes('{"user":'))],
  ['is no UTF-8', poison('undecodable', 'not valid', new Uint8Array([0x22, 0xff, 0xfe, 0x22]))],
  ['is empty', poison('undecodable', 'JSON', new Uint8Array())],
  ['breaks the schema', poison('undecodable', 'amount', encodeJson({ user: lowKey, amount: 'x' }))],
  [
    'is put under another key than its own',
    poison(
      'foreign-partition-key',
      'the event\'s key is "dan", its partition key is "ann"; operator tally needs them equal',
      encodeJson({ user: highKey, amount: 100 }),
    ),
  ],
  [
    'is put on a shard that does not own its key',
    poison(
      'foreign-hash-key',
      `partition key "dan" does not belong to shard ${lowShard}; put records without ExplicitHashKey`,
      encodeJson({ user: highKey, amount: 100 }),
      { partitionKey: highKey, explicitHashKey: '5' },
    ),
  ],
  [
    'is too large',
    poison(
      'too-large',
      'the record has 2101 bytes, at most 2000 are processed; raise recordBytesMax or send less',
      bytes(' '.repeat(2101)),
    ),
  ],
];

describe.each(poisons)('a record that %s', (_, { reason, message, partitionKey, data, put }) => {
  const deliverAmongOthers = async (): Promise<Job> => {
    const job = await createJob({ shards: 2, settings: { recordBytesMax: 2000 } });
    job.put(lowKey, { amount: 1 });
    put(job);
    job.put(lowKey, { amount: 2 });
    return job;
  };

  it('goes to the dead letters at once and as it was, while its neighbours are processed', async () => {
    const job = await deliverAmongOthers();
    const reasons = await deliverUntilDone(job.createEnvironment(), job.records(lowShard));
    expect(reasons).toEqual([]);
    const [record] = job.records(lowShard).slice(1);
    expect(job.deadLetters()).toEqual([
      {
        key:
          reason === 'foreign-hash-key'
            ? (expect.stringContaining(lowShard) as string)
            : partitionKey,
        position: { sequence: record!.sequence, sub: 0 },
        reason,
        message: expect.stringContaining(message) as string,
        partitionKey,
        data,
        arrivalMs: record!.arrivalMs,
      },
    ]);
    expect(job.entriesOf(lowKey)).toEqual([1, 3]);
    expect(job.statesOf(lowKey)).toMatchObject({ total: 3 });
  });

  it('is passed by progress, and is a dead letter once however often it is delivered', async () => {
    const job = await deliverAmongOthers();
    await job.createEnvironment().deliver(job.records(lowShard).slice(0, 2));
    expect(job.progress(lowShard)?.position?.sequence).toBe(job.records(lowShard)[1]!.sequence);
    for (let times = 0; times < 3; times += 1) {
      await job.createEnvironment().deliver(job.records(lowShard));
    }
    expect(job.deadLetters()).toHaveLength(1);
    expect(job.totals()).toEqual({ [lowKey]: 3 });
  });
});

describe('the verdict on a record of a foreign hash', () => {
  it('leaves the item of its own key to the shard that owns it', async () => {
    const job = await createJob({ shards: 2 });
    job.put(highKey, { amount: 1 });
    job.putRaw(highKey, encodeJson({ user: highKey, amount: 100 }), { explicitHashKey: '5' });
    job.put(highKey, { amount: 2 });
    await job.createEnvironment().deliver(job.records(lowShard), { shardId: lowShard });
    await job.createEnvironment().deliver(job.records(highShard), { shardId: highShard });
    expect(job.totals()).toEqual({ [highKey]: 3 });
    const { range } = job.stream.shard(lowShard);
    expect(job.deadLetters().map(({ key }) => key)).toEqual([foreignKeyOf(lowShard, range).key]);
    expect(job.state.rows().map(({ item }) => item.key)).toHaveLength(2);
  });

  it('lands where its shard’s other such verdicts land, each with its own position', async () => {
    const job = await createJob({ shards: 2 });
    for (const user of [highKey, 'kim', highKey]) {
      job.putRaw(user, encodeJson({ user, amount: 1 }), { explicitHashKey: '5' });
    }
    const records = job.records(lowShard);
    await job.createEnvironment().deliver(records, { shardId: lowShard });
    const letters = job.deadLetters();
    expect(letters).toHaveLength(3);
    expect(letters.map(({ position }) => position.sequence)).toEqual(
      records.map(({ sequence }) => sequence),
    );
    expect(new Set(letters.map(({ key }) => key)).size).toBe(1);
  });
});
