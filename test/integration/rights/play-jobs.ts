import { PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { PutRecordsCommand } from '@aws-sdk/client-kinesis';
import { randomUUID } from 'node:crypto';
import { Duration } from 'aws-cdk-lib/core';
import { expect } from 'vitest';
import { startAnswerServer } from '../../../localstack/embedded/resources/answer-server.ts';
import { createTables, deleteTables } from '../rollback/lose-tables.ts';
import type { AccountEvent } from './accounts-operator.ts';
import { firstJob, type Prefix, type RightsAws } from './rights-aws.ts';

/*
 * A life of two jobs that comes to everything for which a function has a right: see what each part is there for. The order is so
 * chosen that clocks that are ahead come behind what goes by the time of day.
 */

const names = ['ann', 'bob', 'cid', 'dee', 'eve'];

/** Every eighth event cannot be decoded, every 11th closes its account. */
function makeEvent(id: number): { readonly key: string; readonly data: string } {
  const account = names[id % names.length]!;
  if (id % 8 === 0) return { key: account, data: `{${id}` };
  const kind = id % 11 === 0 ? 'close' : 'add';
  const event: AccountEvent = { account, id, kind, at: Date.now() };
  return { key: account, data: JSON.stringify(event) };
}

/** @param rights two jobs that were just deployed */
export async function playJobs(rights: RightsAws): Promise<void> {
  const { aws, clients, output, ask, run } = rights;
  let last = 0;

  const put = async (count: number): Promise<void> => {
    const ids = Array.from({ length: count }, (_, at) => last + 1 + at);
    last += count;
    const Records = ids.map(makeEvent).map(({ key, data }) => ({
      ...{ PartitionKey: key, Data: Buffer.from(data) },
    }));
    const StreamName = output('Stream');
    const reply = await clients.kinesis.send(new PutRecordsCommand({ StreamName, Records }));
    expect(reply.FailedRecordCount ?? 0).toBe(0);
  };
  const whenDone = async (prefix: Prefix = ''): Promise<void> => {
    const functions = ['Operator', 'Reminding'].map(
      (name) => aws.functions.get(output(`${prefix}${name}`)).arn,
    );
    for (const mapping of aws.mappings) {
      if (functions.includes(mapping.functionArn)) await mapping.whenIdle({ timeoutMs: 110_000 });
    }
  };
  const process = async (count: number): Promise<void> => {
    await put(count);
    await whenDone();
  };
  const fire = async (logicalId: RegExp): Promise<void> => {
    const schedule = aws.schedules.list().find((one) => logicalId.test(one.logicalId))!;
    const { result } = await aws.schedules.fire(schedule.name);
    expect(result, rights.printed.slice(-20).join('\n')).toMatchObject({ kind: 'success' });
  };

  /** Heartbeats, and whatever timers fire of them. */
  const beat = async (): Promise<void> => {
    await fire(/^JobHeartbeat/);
    await whenDone();
  };

  const parts = [beginWithDeath, keepUp, redeploy, saveAndStop, restoreAndUndo, goBack, clone];
  for (const part of [...parts, loseTables, growOld]) await part();

  /** Units of which one dies behind its outputs, dead letters, timers, closed accounts. */
  async function beginWithDeath(): Promise<void> {
    rights.killBehind(output('Operator'), `INSERT INTO \\"${output('Balance')}`);
    await process(135);
    await beat();
    for (const name of ['Balance', 'DeadLetters', 'Reminders']) {
      expect(await countRows(output(name))).toBeGreaterThan(0);
    }
    expect(aws.functions.get(output('Operator')).stats().crashes).toBeGreaterThan(0);
  }

  /** Ticks of the coordinator: checkpoints, a merge, a collection, a patrol; the clock stands where both of these are due. */
  async function keepUp(): Promise<void> {
    for (const quarter of [1, 2]) {
      rights.setClock(output('Coordinator'), untilQuarter(quarter));
      await fire(/^JobCoordinator/);
    }
    rights.setClock(output('Coordinator'), Duration.millis(0));
  }

  /** A deployment that adds an operator, and one that takes it away again. */
  async function redeploy(): Promise<void> {
    const operators = ['accounts', 'reminders'];
    for (const Operators of [[...operators, 'more'], operators]) await register(rights, Operators);
  }

  async function saveAndStop(): Promise<void> {
    await run('', 'Savepoints', { label: 'stopped', stops: true });
    await put(10);
    await ask('', 'job.resume');
    await whenDone();
    await ask('', 'savepoint.delete', { label: 'stopped' });
  }

  /** Rows of the abandoned time are swept, those that count again are brought back, records are replayed. */
  async function restoreAndUndo(): Promise<void> {
    const { object } = await run('', 'Savepoints', { label: 'one' });
    await process(10);
    await beat();
    for (const name of ['Journal', 'Balance', 'Reminders', 'DeadLetters'])
      await addZombieRows(name);
    await restore('', { manifest: object, restore: 'forth' });
    const { manifests } = (await ask('', 'job.describe')) as {
      manifests: { kind: string; object: string }[];
    };
    const undo = manifests.findLast(({ kind }) => kind === 'undo')!.object;
    await restore('', { manifest: undo, restore: 'back' });
    await restore('', { manifest: object, restore: 'drill', dryRun: true, fromBackup: true });
    const deletion = { isDone: false, operator: '', group: 0, items: 0, rounds: 0 };
    const deleted = await ask('', 'generation.delete', { generation: 2, deletion });
    expect(deleted['items']).toBeGreaterThan(0);
  }

  /** To a moment of the past; one by one, as at an endpoint that knows no batches of statements. */
  async function goBack(): Promise<void> {
    rights.knowStatements(false);
    await run('', 'Savepoints', { label: 'two' });
    await process(10);
    const past = await ask('', 'restore.cut-at-time', { timeMs: Date.now() });
    await process(25);
    await beat();
    await restore('', { manifest: past['object'], restore: 'past' });
    await process(10);
    rights.knowStatements(true);
  }

  /** The other job begins from a savepoint of the first one. */
  async function clone(): Promise<void> {
    const { object } = await run('', 'Savepoints', { label: 'cut' });
    await process(10);
    await ask('Twin', 'clone.check', { from: 'cut', restore: 'clone' });
    await restore('Twin', { manifest: object, restore: 'clone', clones: true });
    await whenDone('Twin');
    await fire(/^TwinCoordinator/);
  }

  /** Everything is written once more, again one by one. */
  async function loseTables(): Promise<void> {
    const { object } = await ask('', 'restore.check', {
      ...{ from: 'cut', restore: 'all', areTablesLost: false },
    });
    await createTables(rights, await deleteTables(rights));
    rights.knowStatements(false);
    await restore('', { manifest: object, restore: 'all', areTablesLost: true });
    await whenDone();
    rights.knowStatements(true);
  }

  /** Almost a day later the stream is asked whether it still has the records behind a cut; old state is deleted. */
  async function growOld(): Promise<void> {
    const { object } = await run('', 'Savepoints', { label: 'old' });
    await process(10);
    rights.setClock(output('Steps'), Duration.minutes(23 * 60 + 30));
    await restore('', { manifest: object, restore: 'late', dryRun: true });
    await fire(/^JobStepsCleanup/);
  }

  async function restore(prefix: Prefix, order: object): Promise<void> {
    const { generation } = await run(prefix, 'Restores', order);
    expect(generation).toBeGreaterThan(1);
  }

  /** In each shard of each operator a row of the time after the newest one. */
  async function addZombieRows(name: string): Promise<void> {
    const TableName = output(name);
    const { Items = [] } = await clients.dynamodb.send(new ScanCommand({ TableName }));
    const rows = Items.filter((item) => item['_channel'] !== undefined);
    for (const some of Map.groupBy(rows, (row) => row['_channel']!.S!).values()) {
      const newest = some.reduce((a, b) => (a['_position']!.S! > b['_position']!.S! ? a : b));
      const Item = { ...newest, sk: { S: `${newest['sk']!.S!}-zombie` } };
      await clients.dynamodb.send(new PutItemCommand({ TableName, Item }));
    }
  }

  async function countRows(TableName: string): Promise<number> {
    const { Count = 0 } = await clients.dynamodb.send(new ScanCommand({ TableName }));
    return Count;
  }
}

/** From now to the second that follows the next quarters of an hour. */
function untilQuarter(quarters: number): Duration {
  const quarterMs = 15 * 60 * 1000;
  const now = Date.now();
  return Duration.millis((Math.floor(now / quarterMs) + quarters) * quarterMs + 1_000 - now);
}

/** What CloudFormation sends where a deployment has changed the job. */
async function register({ aws, output }: RightsAws, operators: string[]): Promise<void> {
  const server = await startAnswerServer();
  const properties = {
    ...{ JobName: firstJob, MaxParallelism: '4', StreamArn: output('StreamArn') },
    Operators: operators,
  };
  const result = await aws.functions.invoke(output('Registrar'), {
    RequestType: 'Update',
    ResponseURL: server.url,
    StackId: 'arn:aws:cloudformation:us-east-1:000000000000:stack/Rights/1',
    RequestId: randomUUID(),
    LogicalResourceId: 'JobRegistrationJob',
    PhysicalResourceId: `holdfast-job-${firstJob}`,
    ResourceProperties: properties,
    OldResourceProperties: properties,
  });
  expect(result).toMatchObject({ kind: 'success' });
  expect(await server.answer).toMatchObject({ Status: 'SUCCESS' });
  await server.close();
}
