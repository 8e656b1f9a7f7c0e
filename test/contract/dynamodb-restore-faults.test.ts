import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';

import type { Fault } from '../../localstack/embedded/emulators/faults.ts';
import { createDynamodbAppendSink } from '../../shared/adapters/dynamodb/dynamodb-append-sink.ts';
import { createDynamodbControlStore } from '../../shared/adapters/dynamodb/dynamodb-control-store.ts';
import {
  createDynamodbDeadLetterSink,
  inlineDataBytesMax,
} from '../../shared/adapters/dynamodb/dynamodb-dead-letter-sink.ts';
import { createDynamodbStateStore } from '../../shared/adapters/dynamodb/dynamodb-state-store.ts';
import { createDynamodbUpsertSink } from '../../shared/adapters/dynamodb/dynamodb-upsert-sink.ts';
import { probeWriteMode } from '../../shared/adapters/dynamodb/probe-write-mode.ts';
import { createMemoryObjectStore } from '../../shared/adapters/memory/memory-object-store.ts';
import { deadLetterSink } from '../../shared/core/emission.ts';
import type { StateScope } from '../../shared/ports/state-store.ts';
import { makeChannel, makeHold, makeJob, makeProgress } from './control-store.contract.ts';
import { createTable, hastySystem, queryPartition, readVisibleRows } from './dynamodb-tables.ts';
import { kindOf, useFaultyDynamodb } from './faulty-dynamodb.ts';
import { makeRegistry } from './registry.contract.ts';
import { makeRow, makeSource, sinkColumns } from './sink.contract.ts';
import { makeItem } from './state-store.contract.ts';

const system = hastySystem;
const scope: StateScope = { job: 'flights', generation: 1, operator: 'delays' };
const channel = makeChannel();

const faulty = useFaultyDynamodb();
const { misbehave, always, behave } = faulty;

let client: DynamoDBClient;
let table: string;

beforeEach(() => {
  ({ client, table } = faulty);
});

async function collect<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const all: Value[] = [];
  for await (const value of values) all.push(value);
  return all;
}

describe('fences when DynamoDB misbehaves', () => {
  const open = () => createDynamodbControlStore({ client, table, system });
  const start = async () => {
    const store = open();
    const { name: job } = await store.createJob(makeJob());
    await store.createProgress(job, channel, makeProgress());
    return { store, job };
  };

  it('raises the version once more where the reply was lost, and tells of what is there', async () => {
    const { store, job } = await start();
    misbehave('UpdateItem', { kind: 'drop-after' });
    const fenced = await store.fenceProgress(job, 1, channel, 'h1');
    expect(fenced).toEqual(makeProgress({ version: 12, fence: 'h1' }));
    expect(await store.readProgress(job, 1, channel)).toEqual(fenced);
    const late = makeProgress({ version: 11 });
    expect(await store.commitProgress(job, channel, late, undefined)).toBe('conflict');
  });

  it('is sent again where it was lost or refused', async () => {
    const { store, job } = await start();
    misbehave('UpdateItem', { kind: 'drop-before' }, { kind: 'throttle' });
    expect(await store.fenceProgress(job, 1, channel, 'h1')).toMatchObject({ version: 11 });
    expect(faulty.seen).toHaveLength(3);
  });

  it('creates nothing, however often it is sent', async () => {
    const { store, job } = await start();
    misbehave('UpdateItem', { kind: 'drop-after' }, { kind: 'drop-before' });
    expect(await store.fenceProgress(job, 2, channel, 'h1')).toBeUndefined();
    expect(await store.readProgress(job, 2, channel)).toBeUndefined();
  });

  it('is unavailable where that does not end', async () => {
    const { store, job } = await start();
    always('UpdateItem', { kind: 'throttle' });
    expect(await kindOf(store.fenceProgress(job, 1, channel, 'h1'))).toBe('unavailable');
    expect(faulty.seen).toHaveLength(8);
  });

  it('is born under a hold once, where the reply was lost', async () => {
    const { store, job } = await start();
    const held = (await store.readJob(job))!;
    await store.replaceJob({ ...held, version: 2, hold: makeHold('h1') }, 1);
    misbehave('TransactWriteItems', { kind: 'drop-after' });
    const birth = {
      job,
      channel: makeChannel({ operator: 'totals' }),
      progress: makeProgress({ fence: 'h1' }),
      finishedParentIds: [],
    };
    expect(await store.bear({ ...birth, hold: 'h1' })).toBe('born');
    expect(await store.bear({ ...birth, hold: 'h2' })).toBe('job-changed');
    expect(await store.bear(birth)).toBe('job-changed');
  });
});

describe('progress of a restored channel when DynamoDB misbehaves', () => {
  const open = () => createDynamodbControlStore({ client, table, system });
  const loaded = makeProgress({ generation: 9, fence: 'h1' });

  it.each([
    ['of the list', [{ kind: 'drop-after' }]],
    ['of progress', [undefined, { kind: 'drop-after' }]],
    ['of both', [{ kind: 'drop-after' }, undefined, { kind: 'drop-after' }]],
  ] as const)('is there once where the reply %s was lost', async (_, faults) => {
    const store = open();
    misbehave('PutItem', ...faults);
    expect(await store.createProgress('flights', channel, loaded)).toBe(
      faults.length === 1 ? 'created' : 'exists',
    );
    expect(await store.readProgress('flights', 9, channel)).toEqual(loaded);
    expect(await store.listChannels('flights', 9)).toEqual([channel]);
  });

  it('never exists without its entry in the list', async () => {
    const store = open();
    for (let died = 0; died < 3; died += 1) {
      // The first request that goes through is the last one.
      const faults = Array.from({ length: 20 }, (): Fault => ({ kind: 'drop-before' }));
      misbehave('PutItem', ...Array.from({ length: died }, () => undefined), ...faults);
      await store.createProgress('flights', channel, loaded).catch(() => undefined);
      const progress = await store.readProgress('flights', 9, channel);
      const listed = await store.listChannels('flights', 9);
      expect(progress === undefined || listed.length === 1).toBe(true);
      expect([progress !== undefined, listed.length]).toEqual([died === 2, Math.min(died, 1)]);
    }
  });

  it('is unavailable where that does not end', async () => {
    always('PutItem', { kind: 'throttle' });
    expect(await kindOf(open().createProgress('flights', channel, loaded))).toBe('unavailable');
  });
});

describe('registry when DynamoDB misbehaves', () => {
  it('has a conflict where the reply was lost, and whoever reads finds what it wrote', async () => {
    const store = createDynamodbControlStore({ client, table, system });
    const registry = makeRegistry();
    misbehave('PutItem', { kind: 'drop-after' });
    expect(await store.writeRegistry('flights', registry)).toBe('conflict');
    expect(await store.readRegistry('flights')).toEqual(registry);
  });
});

describe('looking through state when DynamoDB misbehaves', () => {
  const open = () => createDynamodbStateStore({ client, table, system });
  const items = Array.from({ length: 8 }, (_, at) =>
    makeItem({ key: `key-${at}`, states: new Uint8Array(300 * 1024).fill(at) }),
  );
  const fill = async () => {
    const store = open();
    for (const item of items) await store.write(scope, [{ item, expectedVersion: undefined }]);
    return store;
  };

  it('asks for a page again that was refused or lost, and shows each item once', async () => {
    const store = await fill();
    misbehave('Query', { kind: 'throttle' }, undefined, { kind: 'drop-after' });
    const keys = (await collect(store.scan(scope, 7))).map(({ key }) => key);
    expect(keys).toEqual(items.map(({ key }) => key));
    // Each page is read when it is needed, and has 1 MB at most.
    expect(faulty.seen.length).toBeGreaterThanOrEqual(4);
    for (const { body } of faulty.seen) expect(body).toMatchObject({ ConsistentRead: true });
  });

  it('asks for no page that nobody needs', async () => {
    const store = await fill();
    misbehave('Query');
    const items = store.scan(scope, 7)[Symbol.asyncIterator]();
    expect((await items.next()).value).toMatchObject({ key: 'key-0' });
    expect(faulty.seen).toHaveLength(1);
  });

  it('removes items where requests were refused or lost', async () => {
    const store = await fill();
    misbehave('BatchWriteItem', { kind: 'throttle' }, { kind: 'drop-after' });
    await store.remove(scope, items.slice(1));
    expect(await store.load(scope, items)).toHaveProperty('size', 1);
    always('BatchWriteItem', { kind: 'throttle' });
    expect(await kindOf(store.remove(scope, items))).toBe('unavailable');
  });
});

type Step = () => Promise<unknown>;

/** A client before whose requests, one after the other, somebody else does something. */
function interfere(steps: Iterable<Step>): DynamoDBClient {
  const left = steps[Symbol.iterator]();
  const send = async (command: Parameters<DynamoDBClient['send']>[0]): Promise<unknown> => {
    const step = left.next();
    if (step.done !== true) await step.value();
    return client.send(command);
  };
  return { send } as unknown as DynamoDBClient;
}

describe.each(['append', 'upsert'] as const)('rows of %s sinks in a later generation', (kind) => {
  const create = kind === 'append' ? createDynamodbAppendSink : createDynamodbUpsertSink;
  const open = (through: DynamoDBClient = client) =>
    create({ client: through, table, system, columns: sinkColumns });
  const output = makeRow('k', 1, { row: kind === 'upsert' ? 'totals' : '' });
  const put = (generation: number, through?: DynamoDBClient) =>
    open(through).write(makeSource({ generation }), [output]);
  const generations = async () =>
    (await readVisibleRows(client, table, ['k'])).map(({ generation }) => generation);

  const steps = {
    nothing: () => Promise.resolve(),
    lateAttempt: () => put(1),
    sweep: async () => {
      const rows = await collect(open().scan());
      await open().remove(rows.filter(({ generation }) => generation === 1));
    },
  };

  it('are found where replies are lost', async () => {
    await put(1);
    for (const fault of ['drop-after', 'drop-before'] as const) {
      misbehave('BatchExecuteStatement', undefined, { kind: fault }, { kind: fault });
      await put(fault === 'drop-after' ? 2 : 3);
    }
    behave();
    expect(await generations()).toEqual([3]);
  });

  it('land whatever late attempts and sweeps do between any two requests', async () => {
    const choices = Object.values(steps);
    for (let number = 0; number < choices.length ** 4; number += 1) {
      const plan = Array.from(
        { length: 4 },
        (_, at) => choices[Math.floor(number / choices.length ** at) % choices.length]!,
      );
      table = await createTable(client);
      expect(await put(2, interfere(plan))).toEqual({ written: 1, skipped: 0 });
      expect(await generations()).toEqual([2]);
    }
  });

  it.each([2, 3])(
    'leave one of generation %d alone that came after they had looked',
    async (generation) => {
      const other = makeRow('k', 1, { row: output.emission.row, value: { note: 'other' } });
      const write = () => open().write(makeSource({ generation }), [other]);
      const { nothing, lateAttempt } = steps;
      const plan = kind === 'append' ? [lateAttempt] : [nothing, lateAttempt];
      expect(await put(2, interfere([...plan, nothing, write]))).toEqual({
        written: 0,
        skipped: 1,
      });
      expect(await readVisibleRows(client, table, ['k'])).toMatchObject([
        { generation, value: { note: 'other' } },
      ]);
    },
  );

  it('are unavailable where that does not end', async () => {
    function* forEver(): Generator<Step, void, undefined> {
      while (true) {
        yield steps.lateAttempt;
        yield steps.sweep;
      }
    }
    const starts = kind === 'append' ? [steps.lateAttempt] : [steps.nothing, steps.lateAttempt];
    const plan = [...starts, ...Iterator.from(forEver()).take(100)];
    expect(await kindOf(put(2, interfere(plan)))).toBe('unavailable');
  });
});

describe('append rows in the first generation', () => {
  it('are not read where they are there', async () => {
    const sink = createDynamodbAppendSink({ client, table, system, columns: sinkColumns });
    const rows = Array.from({ length: 30 }, (_, at) => makeRow('k', at));
    await sink.write(makeSource(), rows);
    misbehave('BatchGetItem');
    expect(await sink.write(makeSource(), rows)).toEqual({ written: 0, skipped: 30 });
    expect(faulty.seen).toEqual([]);
  });
});

describe('dead letters of generations', () => {
  const objects = createMemoryObjectStore();
  const open = () => createDynamodbDeadLetterSink({ client, table, system, objects });
  const letterOf = (reason: string, data: Uint8Array) =>
    makeRow('bad-key', 1, {
      sink: deadLetterSink,
      value: { reason, message: 'no', partitionKey: 'bad-key', data, arrivalMs: 5 },
    });
  const put = (generation: number, reason: string, data = new Uint8Array([1])) =>
    open().write(makeSource({ generation }), [letterOf(reason, data)]);
  const letters = async () =>
    (await queryPartition(client, table, `delays#${makeSource().channel}`)).map((item) =>
      unmarshall(item),
    );

  it('replace those of lower ones as a whole, and no others', async () => {
    const large = new Uint8Array(inlineDataBytesMax + 1);
    expect(await put(1, 'first')).toEqual({ written: 1, skipped: 0 });
    expect(await put(3, 'third', large)).toEqual({ written: 1, skipped: 0 });
    expect(await put(3, 'again')).toEqual({ written: 0, skipped: 1 });
    expect(await put(2, 'second')).toEqual({ written: 0, skipped: 1 });
    const [letter, ...others] = await letters();
    expect(others).toEqual([]);
    expect(letter).toMatchObject({ _generation: 3, reason: 'third' });
    expect(letter).toHaveProperty('dataObject');
    expect(letter).not.toHaveProperty('data');
    await put(4, 'fourth');
    expect((await letters())[0]).toHaveProperty('data');
    expect((await letters())[0]).not.toHaveProperty('dataObject');
  });

  it('can be looked through and removed', async () => {
    await put(2, 'second');
    const rows = await collect(open().scan());
    const { sequence } = makeRow('', 1).emission.position;
    expect(rows).toMatchObject([
      { key: 'bad-key', row: '', generation: 2, id: `delays#events@1735689600000#${sequence}#0` },
    ]);
    await put(3, 'third');
    expect(await open().remove(rows)).toBe(0);
    expect(await open().remove(await collect(open().scan()))).toBe(1);
    expect(await letters()).toEqual([]);
  });
});

describe('sweeping a sink table when DynamoDB misbehaves', () => {
  const open = () => createDynamodbAppendSink({ client, table, system, columns: sinkColumns });
  const fill = async (count: number, note = '') => {
    const rows = Array.from({ length: count }, (_, at) =>
      makeRow(`k${at}`, at, { value: { note } }),
    );
    await open().write(makeSource(), rows);
  };

  it('asks for a page again that was refused or lost, and reads no columns', async () => {
    await fill(30, 'x'.repeat(100_000));
    misbehave('Scan', { kind: 'throttle' }, undefined, { kind: 'drop-after' });
    const rows = await collect(open().scan());
    expect(new Set(rows.map(({ key }) => key)).size).toBe(30);
    expect(rows).toHaveLength(30);
    expect(faulty.seen.length).toBeGreaterThanOrEqual(5);
    for (const { body } of faulty.seen) {
      const { ConsistentRead, ExpressionAttributeNames } = body as {
        ConsistentRead: boolean;
        ExpressionAttributeNames: Record<string, string>;
      };
      expect(ConsistentRead).toBe(true);
      expect(Object.values(ExpressionAttributeNames)).toEqual([
        'pk',
        'sk',
        '_id',
        '_generation',
        '_channel',
        '_position',
      ]);
    }
  });

  it('passes over what no sink has written', async () => {
    await probeWriteMode({ client, table, system });
    await fill(1);
    expect((await collect(open().scan())).map(({ key }) => key)).toEqual(['k0']);
  });

  it('removes rows where requests are refused or lost, and counts those that it saw go', async () => {
    await fill(3);
    const rows = await collect(open().scan());
    misbehave('DeleteItem', { kind: 'throttle' }, { kind: 'drop-after' }, { kind: 'drop-before' });
    expect(await open().remove(rows)).toBe(2);
    behave();
    expect(await collect(open().scan())).toEqual([]);
  });

  it('is unavailable where that does not end', async () => {
    await fill(2);
    const rows = await collect(open().scan());
    always('DeleteItem', { kind: 'throttle' });
    expect(await kindOf(open().remove(rows))).toBe('unavailable');
    always('Scan', { kind: 'drop-before' });
    expect(await kindOf(collect(open().scan()))).toBe('unavailable');
  });
});
