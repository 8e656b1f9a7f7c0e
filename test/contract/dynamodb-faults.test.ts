import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBClient as Client } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';

import type { Fault } from '../../localstack/embedded/emulators/faults.ts';
import { createDynamodbAppendSink } from '../../shared/adapters/dynamodb/dynamodb-append-sink.ts';
import { createDynamodbControlStore } from '../../shared/adapters/dynamodb/dynamodb-control-store.ts';
import {
  createDynamodbDeadLetterSink,
  inlineDataBytesMax,
} from '../../shared/adapters/dynamodb/dynamodb-dead-letter-sink.ts';
import { createDynamodbHintStore } from '../../shared/adapters/dynamodb/dynamodb-hint-store.ts';
import { createDynamodbStateStore } from '../../shared/adapters/dynamodb/dynamodb-state-store.ts';
import { createDynamodbUpsertSink } from '../../shared/adapters/dynamodb/dynamodb-upsert-sink.ts';
import {
  createWriteModeProbe,
  probeWriteMode,
} from '../../shared/adapters/dynamodb/probe-write-mode.ts';
import { createMemoryObjectStore } from '../../shared/adapters/memory/memory-object-store.ts';
import { deadLetterSink } from '../../shared/core/emission.ts';
import { hashKey } from '../../shared/core/key-group.ts';
import type { StoredItem } from '../../shared/core/stored-item.ts';
import type { StateScope } from '../../shared/ports/state-store.ts';
import { makeChannel, makeJob, makeProgress } from './control-store.contract.ts';
import { hastySystem, queryPartition, readVisibleRows } from './dynamodb-tables.ts';
import { kindOf, useFaultyDynamodb } from './faulty-dynamodb.ts';
import { makeHint, makeHints, sorted } from './hint-store.contract.ts';
import { makeRow, makeSource, sinkColumns } from './sink.contract.ts';
import { makeItem } from './state-store.contract.ts';

const system = hastySystem;
const scope: StateScope = { job: 'flights', generation: 1, operator: 'delays' };

const faulty = useFaultyDynamodb();
const { misbehave, always, behave } = faulty;

let client: DynamoDBClient;
let table: string;

beforeEach(() => {
  ({ client, table } = faulty);
});

function statementCounts(): number[] {
  return faulty.seen.map(({ body }) => (body as { Statements: unknown[] }).Statements.length);
}

function keyCounts(): number[] {
  return faulty.seen.map(
    ({ body }) =>
      (body as { RequestItems: Record<string, { Keys: unknown[] }> }).RequestItems[table]!.Keys
        .length,
  );
}

const makeItems = (count: number): StoredItem[] =>
  Array.from({ length: count }, (_, at) => makeItem({ key: `key-${at}` }));

const creates = (items: readonly StoredItem[]) =>
  items.map((item) => ({ item, expectedVersion: undefined }));

describe('state store when DynamoDB misbehaves', () => {
  const open = () => createDynamodbStateStore({ client, table, system });

  it('sends a throttled statement again, and that one only', async () => {
    misbehave(
      'BatchExecuteStatement',
      { kind: 'throttle', only: [3, 7] },
      { kind: 'throttle', only: [0] },
    );
    const items = makeItems(10);
    expect(await open().write(scope, creates(items))).toEqual(items.map(() => 'written'));
    expect(statementCounts()).toEqual([10, 2, 1]);
  });

  it('sends a throttled request again', async () => {
    misbehave('BatchExecuteStatement', { kind: 'throttle' }, { kind: 'throttle' });
    const items = makeItems(30);
    expect(await open().write(scope, creates(items))).toEqual(items.map(() => 'written'));
    expect(await open().load(scope, items)).toHaveProperty('size', 30);
  });

  it('is unavailable where throttling does not end', async () => {
    always('BatchExecuteStatement', { kind: 'throttle' });
    expect(await kindOf(open().write(scope, creates(makeItems(3))))).toBe('unavailable');
    expect(faulty.seen).toHaveLength(8);
  });

  it('answers conflict for each write whose reply was lost, and for no other', async () => {
    const items = makeItems(60);
    misbehave('BatchExecuteStatement', { kind: 'drop-after' });
    const outcomes = await open().write(scope, creates(items));
    expect(outcomes.filter((outcome) => outcome === 'conflict')).toHaveLength(25);
    expect(outcomes.filter((outcome) => outcome === 'written')).toHaveLength(35);
    expect(await open().load(scope, items)).toHaveProperty('size', 60);
  });

  it('answers conflict where the request was lost on its way', async () => {
    const items = makeItems(5);
    misbehave('BatchExecuteStatement', { kind: 'drop-before' });
    expect(await open().write(scope, creates(items))).toEqual(items.map(() => 'conflict'));
    expect(await open().load(scope, items)).toHaveProperty('size', 0);
  });

  it('meets its own writes as conflicts where the SDK sends a request again', async () => {
    const patient = new Client({
      endpoint: faulty.endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
      maxAttempts: 3,
    });
    try {
      const store = createDynamodbStateStore({ client: patient, table, system });
      const items = makeItems(3);
      misbehave('BatchExecuteStatement', { kind: 'drop-after' });
      expect(await store.write(scope, creates(items))).toEqual(items.map(() => 'conflict'));
      expect(faulty.seen).toHaveLength(2);
      expect(await store.load(scope, items)).toHaveProperty('size', 3);
    } finally {
      patient.destroy();
    }
  });

  it('does the same with single writes', async () => {
    const store = createDynamodbStateStore({ client, table, system, writeMode: 'conditional-put' });
    misbehave('PutItem', { kind: 'throttle' }, { kind: 'drop-after' }, { kind: 'drop-before' });
    const outcomes = await store.write(scope, creates(makeItems(9)));
    expect(outcomes.filter((outcome) => outcome === 'conflict')).toHaveLength(2);
    expect(await store.load(scope, makeItems(9))).toHaveProperty('size', 8);
    always('PutItem', { kind: 'throttle' });
    expect(await kindOf(store.write(scope, creates(makeItems(1))))).toBe('unavailable');
  });

  it('asks again for the keys that were not served', async () => {
    const items = makeItems(150);
    await open().write(scope, creates(items));
    misbehave('BatchGetItem', { kind: 'throttle', only: [0, 50, 99] });
    expect(await open().load(scope, items)).toHaveProperty('size', 150);
    expect(keyCounts().toSorted((a, b) => a - b)).toEqual([3, 50, 100]);
  });

  it('asks again where the reply to a read was lost or refused', async () => {
    const items = makeItems(5);
    await open().write(scope, creates(items));
    misbehave('BatchGetItem', { kind: 'drop-after' }, { kind: 'throttle' });
    expect(await open().load(scope, items)).toHaveProperty('size', 5);
    always('BatchGetItem', { kind: 'drop-before' });
    expect(await kindOf(open().load(scope, items))).toBe('unavailable');
  });

  it.each(['partiql-batch', 'conditional-put'] as const)(
    'names the item that DynamoDB refuses for its size (%s)',
    async (writeMode) => {
      const store = createDynamodbStateStore({ client, table, system, writeMode });
      const item = makeItem({ key: 'huge', states: new Uint8Array(401 * 1024) });
      const write = store.write(scope, creates([item]));
      await expect(write).rejects.toThrow(/flights#1#delays#7","huge/);
      expect(await kindOf(store.write(scope, creates([item])))).toBe('invalid');
    },
  );

  it('is invalid where there is no such table', async () => {
    for (const writeMode of ['partiql-batch', 'conditional-put'] as const) {
      const store = createDynamodbStateStore({ client, table: 'nowhere', system, writeMode });
      expect(await kindOf(store.load(scope, [makeItem()]))).toBe('invalid');
      expect(await kindOf(store.write(scope, creates([makeItem()])))).toBe('invalid');
    }
  });

  it('lets tombstones expire also where a reply is lost', async () => {
    const tombstone = makeItem({ states: undefined, version: 5 });
    await open().write(scope, creates([tombstone]));
    misbehave('BatchExecuteStatement', { kind: 'drop-before' }, { kind: 'drop-after' });
    await open().expireTombstones(scope, [{ ...tombstone, expiresAtSeconds: 1_900_000_000 }]);
    const [item] = await queryPartition(client, table, 'flights#1#delays#7');
    expect(item?.['ttl']).toEqual({ N: '1900000000' });
  });
});

describe('control store when DynamoDB misbehaves', () => {
  const open = () => createDynamodbControlStore({ client, table, system });

  const startChannel = async () => {
    const job = await open().createJob(makeJob());
    await open().bear({
      job: job.name,
      channel: makeChannel(),
      progress: makeProgress(),
      finishedParentIds: [],
    });
    return job.name;
  };

  it('answers conflict to a commit whose reply was lost; progress names the attempt', async () => {
    const job = await startChannel();
    const next = makeProgress({ version: 11, attempt: 'mine' });
    misbehave('PutItem', { kind: 'drop-after' });
    expect(await open().commitProgress(job, makeChannel(), next, undefined)).toBe('conflict');
    expect(await open().readProgress(job, 1, makeChannel())).toEqual(next);
  });

  it('answers conflict to a commit that was lost on its way; progress is as before', async () => {
    const job = await startChannel();
    const next = makeProgress({ version: 11 });
    misbehave('PutItem', { kind: 'drop-before' });
    expect(await open().commitProgress(job, makeChannel(), next, undefined)).toBe('conflict');
    expect(await open().readProgress(job, 1, makeChannel())).toEqual(makeProgress());
  });

  it('commits in spite of throttling, and is unavailable where it does not end', async () => {
    const job = await startChannel();
    const commit = (version: number) =>
      open().commitProgress(job, makeChannel(), makeProgress({ version }), undefined);
    misbehave('PutItem', { kind: 'throttle' }, { kind: 'throttle' });
    expect(await commit(11)).toBe('committed');
    always('PutItem', { kind: 'throttle' });
    expect(await kindOf(commit(12))).toBe('unavailable');
  });

  it('returns the job that it created itself where the reply was lost', async () => {
    const job = makeJob();
    misbehave('PutItem', { kind: 'drop-after' });
    expect(await open().createJob(job)).toEqual(job);
    const other = makeJob();
    misbehave('PutItem', { kind: 'drop-before' });
    expect(await open().createJob(other)).toEqual(other);
    expect(faulty.seen).toHaveLength(2);
  });

  it('bears a channel once where the reply was lost', async () => {
    const job = await open().createJob(makeJob());
    const birth = {
      job: job.name,
      channel: makeChannel(),
      progress: makeProgress(),
      finishedParentIds: [],
    };
    misbehave('TransactWriteItems', { kind: 'drop-after' }, { kind: 'throttle' });
    expect(await open().bear(birth)).toBe('born');
    expect(faulty.seen).toHaveLength(3);
    expect(await open().bear(birth)).toBe('exists');
    always('TransactWriteItems', { kind: 'drop-before' });
    expect(await kindOf(open().bear(birth))).toBe('unavailable');
  });

  it('reads again where a reply was lost, and is unavailable where none comes', async () => {
    const job = await startChannel();
    misbehave('GetItem', { kind: 'drop-after' }, { kind: 'throttle' });
    expect(await open().readProgress(job, 1, makeChannel())).toEqual(makeProgress());
    misbehave('Query', { kind: 'drop-after' }, { kind: 'throttle' });
    expect(await open().listChannels(job, 1)).toEqual([makeChannel()]);
    always('GetItem', { kind: 'drop-before' });
    expect(await kindOf(open().readJob(job))).toBe('unavailable');
    always('Query', { kind: 'drop-before' });
    expect(await kindOf(open().listChannels(job, 1))).toBe('unavailable');
  });

  it('is invalid where there is no such table', async () => {
    const store = createDynamodbControlStore({ client, table: 'nowhere', system });
    expect(await kindOf(store.readJob('flights'))).toBe('invalid');
    expect(await kindOf(store.createJob(makeJob()))).toBe('invalid');
    const birth = {
      job: 'flights',
      channel: makeChannel(),
      progress: makeProgress(),
      finishedParentIds: [],
    };
    expect(await kindOf(store.bear(birth))).toBe('invalid');
  });
});

describe('hint store when DynamoDB misbehaves', () => {
  const open = () => createDynamodbHintStore({ client, table, system });
  const time = makeHint().time;
  const everywhere = { from: '0'.repeat(32), to: 'f'.repeat(32) };
  const find = (upTo = time) => open().findDue(scope, 5, 'event', upTo, everywhere);

  it('inserts and removes in spite of lost replies and throttling', async () => {
    const hints = makeHints(60);
    misbehave(
      'BatchWriteItem',
      { kind: 'drop-after' },
      { kind: 'throttle' },
      { kind: 'drop-before' },
      { kind: 'throttle' },
    );
    await open().insert(scope, hints);
    expect(faulty.seen.length).toBeGreaterThan(3);
    expect(sorted((await find()).due)).toEqual(sorted(hints));
    misbehave('BatchWriteItem', { kind: 'drop-before' }, { kind: 'throttle' });
    await open().remove(scope, hints.slice(1));
    expect((await find()).due).toEqual([hints[0]]);
  });

  it('looks again where a reply was lost or refused', async () => {
    const hints = makeHints(3);
    await open().insert(scope, [...hints, { ...hints[0]!, time: time + 1 }]);
    misbehave('Query', { kind: 'drop-after' }, { kind: 'throttle' }, { kind: 'drop-before' });
    const { due, nextTime } = await find();
    expect(sorted(due)).toEqual(sorted(hints));
    expect(nextTime).toBe(time + 1);
    expect(faulty.seen).toHaveLength(4);
  });

  it('is unavailable where no reply comes', async () => {
    always('BatchWriteItem', { kind: 'drop-after' });
    expect(await kindOf(open().insert(scope, makeHints(3)))).toBe('unavailable');
    expect(await kindOf(open().remove(scope, makeHints(3)))).toBe('unavailable');
    always('Query', { kind: 'throttle' });
    expect(await kindOf(find())).toBe('unavailable');
  });

  it('is invalid where there is no such table', async () => {
    const store = createDynamodbHintStore({ client, table: 'nowhere', system });
    expect(await kindOf(store.insert(scope, makeHints(1)))).toBe('invalid');
    expect(await kindOf(store.remove(scope, makeHints(1)))).toBe('invalid');
    expect(await kindOf(store.findDue(scope, 5, 'event', time, everywhere))).toBe('invalid');
  });

  it('leaves the state beside it alone, whatever the names', async () => {
    const state = createDynamodbStateStore({ client, table, system });
    const item = makeItem({ keyGroup: 5 });
    const hint = makeHints(1)[0]!;
    const scopes = [scope, { ...scope, job: 'hints' }, { ...scope, operator: 'hints' }];
    for (const one of scopes) {
      await state.write(one, creates([item]));
      await open().insert(one, [hint]);
    }
    for (const one of scopes) {
      const found = await open().findDue(one, 5, 'event', time, everywhere);
      expect(found).toEqual({ due: [hint], nextTime: undefined });
      await open().remove(one, [hint]);
      expect((await state.load(one, [item])).get(item.key)?.version).toBe(item.version);
    }
  });
});

describe('sinks when DynamoDB misbehaves', () => {
  const rowsOf = (key: string, count: number) =>
    Array.from({ length: count }, (_, at) => makeRow(key, at));

  it('appends each row once in spite of lost replies and throttling', async () => {
    const sink = createDynamodbAppendSink({ client, table, system, columns: sinkColumns });
    misbehave(
      'BatchExecuteStatement',
      { kind: 'drop-after' },
      { kind: 'throttle', only: [1] },
      { kind: 'drop-before' },
    );
    const { written, skipped } = await sink.write(makeSource(), rowsOf('k', 60));
    expect(written + skipped).toBe(60);
    expect(skipped).toBe(25);
    expect(await readVisibleRows(client, table, ['k'])).toHaveLength(60);
  });

  it('upserts the newest row in spite of lost replies and throttling', async () => {
    const sink = createDynamodbUpsertSink({ client, table, system, columns: sinkColumns });
    const upsert = (at: number) => sink.write(makeSource(), [makeRow('k', at, { row: '-' })]);
    const faults: Fault[] = [
      { kind: 'drop-after' },
      { kind: 'drop-before' },
      { kind: 'throttle' },
      { kind: 'throttle', only: [0] },
    ];
    // The first upsert takes two requests, an UPDATE and an INSERT; each of them fails in each way.
    for (const [at, fault] of faults.entries()) {
      misbehave('BatchExecuteStatement', fault);
      await upsert(2 * at);
      misbehave('BatchExecuteStatement', undefined, fault);
      await upsert(2 * at + 1);
      const rows = await readVisibleRows(client, table, ['k']);
      expect(rows.map(({ value }) => value['count'])).toEqual([2 * at + 1]);
    }
  });

  it('is unavailable where no reply comes', async () => {
    const append = createDynamodbAppendSink({ client, table, system, columns: sinkColumns });
    const upsert = createDynamodbUpsertSink({ client, table, system, columns: sinkColumns });
    always('BatchExecuteStatement', { kind: 'drop-after' });
    expect(await kindOf(append.write(makeSource(), rowsOf('k', 3)))).toBe('unavailable');
    expect(await kindOf(upsert.write(makeSource(), [makeRow('v', 1, { row: '-' })]))).toBe(
      'unavailable',
    );
    behave();
    expect(await append.write(makeSource(), rowsOf('k', 3))).toEqual({ written: 0, skipped: 3 });
  });

  it('writes rows of their own with each attempt where at-least-once is declared', async () => {
    const sink = createDynamodbAppendSink({
      client,
      table,
      system,
      columns: sinkColumns,
      delivery: 'at-least-once',
    });
    const rows = rowsOf('k', 30);
    expect(await sink.write(makeSource(), rows)).toEqual({ written: 30, skipped: 0 });
    misbehave('BatchWriteItem', { kind: 'throttle' }, { kind: 'drop-after' });
    expect(await sink.write(makeSource(), rows)).toEqual({ written: 30, skipped: 0 });
    const stored = await readVisibleRows(client, table, ['k']);
    expect(stored).toHaveLength(60);
    expect(new Set(stored.map(({ id }) => id)).size).toBe(30);
  });
});

describe('dead letter sink', () => {
  const letterOf = (at: number, data: Uint8Array) =>
    makeRow('bad-key', at, {
      sink: deadLetterSink,
      value: {
        reason: 'undecodable',
        message: 'no JSON',
        partitionKey: 'bad-key',
        data,
        arrivalMs: 1_735_689_600_123,
      },
    });

  it('keeps a record with everything that is needed to put it again', async () => {
    const objects = createMemoryObjectStore();
    const sink = createDynamodbDeadLetterSink({ client, table, system, objects });
    const source = makeSource({ generation: 4 });
    const letter = letterOf(1, new Uint8Array([1, 2]));
    expect(await sink.write(source, [letter])).toEqual({ written: 1, skipped: 0 });
    expect(await sink.write(source, [letter])).toEqual({ written: 0, skipped: 1 });
    const [item, ...others] = await queryPartition(client, table, `delays#${source.channel}`);
    expect(others).toEqual([]);
    const { sequence } = letter.emission.position;
    expect(unmarshall(item!)).toEqual({
      pk: `delays#${source.channel}`,
      sk: `${sequence.padStart(64, '0')}.0000000.000000`,
      _id: `delays#events@1735689600000#${sequence}#0`,
      _job: 'flights',
      _generation: 4,
      _channel: source.channel,
      _position: `${sequence}.0`,
      reason: 'undecodable',
      message: 'no JSON',
      partitionKey: 'bad-key',
      arrivalMs: 1_735_689_600_123,
      data: new Uint8Array([1, 2]),
    });
    expect(objects.objects().size).toBe(0);
  });

  it('keeps a large record in an object that its row names', async () => {
    const objects = createMemoryObjectStore();
    const sink = createDynamodbDeadLetterSink({ client, table, system, objects });
    const data = new Uint8Array(inlineDataBytesMax + 1).fill(5);
    await sink.write(makeSource(), [letterOf(1, data), letterOf(2, data.subarray(1))]);
    expect(await sink.write(makeSource(), [letterOf(1, data)])).toEqual({ written: 0, skipped: 1 });
    const items = await queryPartition(client, table, `delays#${makeSource().channel}`);
    const [large, small] = items.map((item) => unmarshall(item));
    expect(large).not.toHaveProperty('data');
    expect([...objects.objects().keys()]).toEqual([large!['dataObject']]);
    expect(large!['dataObject']).toBe(`jobs/flights/dead-letters/delays/${large!['_id']}`);
    expect(Buffer.compare([...objects.objects().values()][0]!, data)).toBe(0);
    expect(small!['data']).toHaveLength(inlineDataBytesMax);
  });

  it('cuts a message that is too long for a row', async () => {
    const objects = createMemoryObjectStore();
    const sink = createDynamodbDeadLetterSink({ client, table, system, objects });
    const letter = letterOf(1, new Uint8Array([1]));
    const value = { ...(letter.emission.value as object), message: '🦊'.repeat(300_000) };
    const emission = { ...letter.emission, value };
    await sink.write(makeSource(), [{ ...letter, emission }]);
    const [item] = await queryPartition(client, table, `delays#${makeSource().channel}`);
    expect(item?.['message']?.S).toBe('🦊'.repeat(2_048));
  });

  it('keeps a letter for each timer that fails behind one record, and one for the record', async () => {
    const objects = createMemoryObjectStore();
    const sink = createDynamodbDeadLetterSink({ client, table, system, objects });
    const source = makeSource();
    const record = letterOf(1, new Uint8Array([1]));
    const timers = ['alice', 'bob'].flatMap((key) =>
      ['e:close', 'a:close'].map((name) => {
        const step = { keyHash: hashKey(key), key, time: 1_735_689_600_000, name };
        const position = { ...record.emission.position, step };
        return {
          ...record,
          key,
          id: `id of ${key} ${name}`,
          emission: { ...record.emission, position },
        };
      }),
    );
    const letters = [record, ...timers];
    expect(await sink.write(source, letters)).toEqual({ written: 5, skipped: 0 });
    expect(await sink.write(source, letters)).toEqual({ written: 0, skipped: 5 });
    const items = await queryPartition(client, table, `delays#${source.channel}`);
    expect(items.map((item) => item['_id']?.S).toSorted()).toEqual(
      [
        `delays#events@1735689600000#${record.emission.position.sequence}#0`,
        ...timers.map(({ id }) => id),
      ].toSorted(),
    );
  });

  it('refuses what is no dead letter', async () => {
    const objects = createMemoryObjectStore();
    const sink = createDynamodbDeadLetterSink({ client, table, system, objects });
    expect(await kindOf(sink.write(makeSource(), [makeRow('k', 1)]))).toBe('internal');
  });
});

describe('probe of the write mode', () => {
  it('finds that the emulator takes batches, whoever else probes', async () => {
    const modes = await Promise.all(
      Array.from({ length: 5 }, () => probeWriteMode({ client, table, system })),
    );
    expect(modes).toEqual(modes.map(() => 'partiql-batch'));
    const items = await queryPartition(client, table, '!probe');
    expect(items.map(({ sk }) => sk?.S)).toEqual(['hit']);
  });

  it('happens once, and again only where it failed', async () => {
    const probe = createWriteModeProbe({ client, table, system });
    always('BatchExecuteStatement', { kind: 'drop-before' });
    expect(await kindOf(probe())).toBe('unavailable');
    misbehave('BatchExecuteStatement');
    expect(await Promise.all([probe(), probe()])).toEqual(['partiql-batch', 'partiql-batch']);
    expect(await probe()).toBe('partiql-batch');
    expect(faulty.seen).toHaveLength(2);
  });

  it('is not fooled by throttling', async () => {
    misbehave(
      'BatchExecuteStatement',
      { kind: 'throttle' },
      { kind: 'throttle', only: [0] },
      undefined,
      { kind: 'throttle', only: [1] },
    );
    expect(await probeWriteMode({ client, table, system })).toBe('partiql-batch');
  });

  it('chooses for the store that asks it', async () => {
    const store = createDynamodbStateStore({
      client,
      table,
      system,
      writeMode: createWriteModeProbe({ client, table, system }),
    });
    misbehave('BatchExecuteStatement');
    expect(await store.write(scope, creates([makeItem()]))).toEqual(['written']);
    expect(statementCounts()).toEqual([1, 2, 1]);
  });

  it('is invalid where there is no such table', async () => {
    expect(await kindOf(probeWriteMode({ client, table: 'nowhere', system }))).toBe('invalid');
  });
});
