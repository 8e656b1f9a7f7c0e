import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pollUntilTrue } from '../embedded/poll-until.ts';
import { startMoodyAws, type MoodyAws, type Put } from './moody-aws.ts';
import type { MoodyJob } from './moody-stack.ts';
import type { MoodyEvent } from './moody-operator.ts';

/** Functions whose environment is not what it should be, with what they have to say about it. */
const spoiltJobs = [
  {
    name: 'unset',
    how: 'is missing',
    spoil: { HOLDFAST_STATE_TABLE: undefined },
    says: 'HOLDFAST_STATE_TABLE: got nothing, expected the name of a DynamoDB table; these variables are written by the StreamJob construct: deploy again and do not edit them by hand',
  },
  {
    name: 'malformed',
    how: 'has a value that cannot be',
    spoil: { HOLDFAST_MAX_PARALLELISM: '100' },
    says: 'HOLDFAST_MAX_PARALLELISM: got "100", expected a power of two from 1 to 32768 (key groups are equal ranges of the key hash); these variables are written',
  },
  {
    name: 'mismatched',
    how: 'has a value that belongs to another job',
    spoil: { HOLDFAST_MAX_PARALLELISM: '64' },
    says: 'job mismatched was created with maxParallelism 128, this code has 64; it is fixed for the life of a job, deploy the old value',
  },
] as const satisfies readonly (MoodyJob & { how: string; says: string })[];

const jobs: readonly MoodyJob[] = [
  // Short: each time that the loop is met costs as much.
  { name: 'loops', timeoutSeconds: 5 },
  { name: 'hoards' },
  { name: 'records', shards: 2 },
  ...spoiltJobs,
];

const event = (account: string, id: number, kind: MoodyEvent['kind'] = 'add'): MoodyEvent => ({
  account,
  id,
  kind,
});

describe.concurrent('bad input', () => {
  let local: MoodyAws;

  beforeAll(async () => {
    local = await startMoodyAws(jobs);
  });

  afterAll(() => local.stop());

  /** Puts a bad record between good ones of the same key and of others; the good ones must not notice. */
  async function putAmongOthers(job: string, account: string, bad: Put): Promise<void> {
    const other = `${account}-neighbour`;
    await local.put(job, [
      event(account, 1),
      event(other, 2),
      bad,
      event(account, 4),
      event(other, 5),
      event(account, 6),
    ]);
    await local.whenDone(job);
    expect(await local.journal(job, account)).toEqual(['/1', '/1/4', '/1/4/6']);
    expect(await local.balance(job, account)).toBe('/1/4/6');
    expect(await local.journal(job, other)).toEqual(['/2', '/2/5']);
    expect(await local.deadLetters(job, other)).toEqual([]);
  }

  it('an event on which the operator loops for ever is found, and no other is harmed', async () => {
    await putAmongOthers('loops', 'looper', event('looper', 3, 'loop'));
    const letters = await local.deadLetters('loops', 'looper');
    expect(letters).toMatchObject([{ reason: 'operator-failed' }]);
    expect(letters[0]?.['message']).toContain('it ran out of time or memory');
    expect(JSON.parse(Buffer.from(letters[0]?.['data'] as Uint8Array).toString())).toEqual(
      event('looper', 3, 'loop'),
    );
    const { timeouts } = local.functionOf('loops').stats();
    expect(timeouts).toBeGreaterThanOrEqual(2);
    expect(timeouts).toBeLessThan(10);
  });

  it('an event on which the operator exhausts its memory is found, and no other is harmed', async () => {
    await putAmongOthers('hoards', 'hoarder', event('hoarder', 3, 'hoard'));
    const letters = await local.deadLetters('hoards', 'hoarder');
    expect(letters).toMatchObject([{ reason: 'operator-failed' }]);
    expect(letters[0]?.['message']).toContain('it ran out of time or memory');
    const { crashes, timeouts } = local.functionOf('hoards').stats();
    expect(timeouts).toBe(0);
    expect(crashes).toBeGreaterThanOrEqual(2);
    expect(crashes).toBeLessThan(10);
  });

  it('an event on which the operator throws is tried again, then put aside with its error', async () => {
    await putAmongOthers('records', 'thrower', event('thrower', 3, 'throw'));
    expect(await local.deadLetters('records', 'thrower')).toMatchObject([
      { reason: 'operator-failed', message: 'event 3 is bad' },
    ]);
  });

  it('a state that would not fit into an item is refused, with its size and the limit', async () => {
    await putAmongOthers('records', 'sweller', event('sweller', 3, 'swell'));
    const letters = await local.deadLetters('records', 'sweller');
    expect(letters).toMatchObject([{ reason: 'operator-failed' }]);
    expect(letters[0]?.['message']).toMatch(
      /the item of key "sweller" would have 51\d{4} bytes, at most 389120 fit into DynamoDB beside its outputs; keep less for each key, or split the key/,
    );
  });

  it('a record that is no JSON is put aside with its bytes', async () => {
    await putAmongOthers('records', 'scribbler', { partitionKey: 'scribbler', data: '{"account"' });
    const letters = await local.deadLetters('records', 'scribbler');
    expect(letters).toMatchObject([{ reason: 'undecodable' }]);
    expect(letters[0]?.['message']).toMatch(/operator moody cannot read the record: .*JSON/);
    expect(Buffer.from(letters[0]?.['data'] as Uint8Array).toString()).toBe('{"account"');
  });

  it('a record that breaks the schema is put aside with the field that does', async () => {
    const data = JSON.stringify({ account: 'breaker', id: 'three', kind: 'add' });
    await putAmongOthers('records', 'breaker', { partitionKey: 'breaker', data });
    const letters = await local.deadLetters('records', 'breaker');
    expect(letters).toMatchObject([{ reason: 'undecodable' }]);
    expect(letters[0]?.['message']).toMatch(/operator moody cannot read the record: [^]*"id"/);
  });

  it('a record under a partition key that is not its own is put aside with both keys', async () => {
    const data = JSON.stringify(event('stranger', 3));
    await putAmongOthers('records', 'host', { partitionKey: 'host', data });
    expect(await local.deadLetters('records', 'host')).toMatchObject([
      {
        reason: 'foreign-partition-key',
        message:
          'the event\'s key is "stranger", its partition key is "host"; operator moody needs them equal, put the record under its key',
      },
    ]);
    expect(await local.journal('records', 'stranger')).toEqual([]);
  });

  it('a record on a shard that does not own its key is put aside with the shard', async () => {
    const data = JSON.stringify(event('routed', 3));
    // One of the two ends of the hash space belongs to another shard than the key.
    for (const explicitHashKey of ['0', String(2n ** 128n - 1n)]) {
      await local.put('records', [{ partitionKey: 'routed', data, explicitHashKey }]);
    }
    await local.whenDone('records');
    const letters = await local.deadLetters('records', 'routed');
    expect(letters).toMatchObject([{ reason: 'foreign-hash-key' }]);
    expect(letters[0]?.['message']).toMatch(
      /partition key "routed" does not belong to shard shardId-0+\d; put records without ExplicitHashKey/,
    );
    expect(await local.journal('records', 'routed')).toEqual(['/3']);
  });

  it('a record that is too large is put aside, whole, with the limit', async () => {
    const data = JSON.stringify({ ...event('giant', 3), padding: '.'.repeat(150_000) });
    await putAmongOthers('records', 'giant', { partitionKey: 'giant', data });
    const letters = await local.deadLetters('records', 'giant');
    expect(letters).toMatchObject([
      {
        reason: 'too-large',
        message: `the record has ${data.length} bytes, at most 102400 are processed; raise recordBytesMax or send less`,
      },
    ]);
    expect(await local.readObject('records', String(letters[0]?.['dataObject']))).toBe(data);
  });

  it('an empty batch is answered as done', async () => {
    expect(await local.invoke('records', { Records: [] })).toMatchObject({
      kind: 'success',
      payload: '{"batchItemFailures":[]}',
    });
  });

  it.for([
    [
      'of another service',
      { Records: [{ eventSource: 'aws:sqs', eventSourceARN: 'arn:aws:sqs:us-east-1:0:q' }] },
      'cannot read the event: a record has event source "aws:sqs", expected "aws:kinesis"; remove the other event source from this function',
    ],
    [
      'that is no batch at all',
      { hello: 'world' },
      'cannot read the event: it has no records, got {"hello":"world"}; only a Kinesis event source mapping may invoke this function',
    ],
    [
      'of another stream',
      {
        Records: [
          {
            eventSource: 'aws:kinesis',
            eventSourceARN: 'arn:aws:kinesis:us-east-1:000000000000:stream/other',
            eventID: 'shardId-000000000000:1',
            kinesis: {
              sequenceNumber: '1',
              partitionKey: 'a',
              data: '',
              approximateArrivalTimestamp: 0,
            },
          },
        ],
      },
      'comes from arn:aws:kinesis:us-east-1:000000000000:stream/other, expected arn:aws:kinesis',
    ],
  ] as const)(
    'an event %s fails as a whole, so that nothing of it counts as done',
    async ([, payload, says]) => {
      const result = await local.invoke('records', payload);
      expect(result).toMatchObject({ kind: 'failed', reason: 'function-error' });
      expect(result.kind === 'failed' && result.errorMessage).toContain(says);
    },
  );

  it.for(spoiltJobs)(
    'a variable that $how is named, and its records wait for the right one',
    async (job) => {
      const mapping = local.mappingOf(job.name);
      await local.put(job.name, [event('patient', 1), event('patient', 2)]);
      await pollUntilTrue('two attempts', () => mapping.stats().failures >= 2);
      expect(local.printed.join('\n')).toContain(job.says);
      expect(await local.journal(job.name, 'patient')).toEqual([]);

      local.repair(job.name);
      await local.put(job.name, [event('patient', 3)]);
      await local.whenDone(job.name);
      expect(await local.journal(job.name, 'patient')).toEqual(['/1', '/1/2', '/1/2/3']);
      expect(await local.deadLetters(job.name, 'patient')).toEqual([]);
      expect(mapping.stats().recordsGivenUp).toBe(0);
    },
  );
});
