import { PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { STEP_PERMISSIONS, type GrantedResource } from '../../../infra/permissions.ts';
import { createStepHandler } from '../../../shared/composition/aws/step-handler.ts';
import {
  writeWorkflowEnvironment,
  type WorkflowEnvironment,
} from '../../../shared/config/workflow-environment.ts';
import { readWorkflows } from '../../infra/workflow-definition.ts';
import { run } from '../embedded/step-functions/memory-machine.ts';
import { ledgerJob, startLedgerAws, type LedgerAws, type Prefix } from './ledger-aws.ts';
import {
  startRecordingProxy,
  type RecordedRequest,
  type RecordingProxy,
} from './recording-proxy.ts';

const workflows = readWorkflows();
const proxies: RecordingProxy[] = [];
let recorded = new Set<string>();
/** Whose function it is that works. */
let at: Prefix = '';
let ledger: LedgerAws;

type Handler = ReturnType<typeof createStepHandler>;
let handler: Handler;
let twinHandler: Handler;

const backupPrefix = 'backup/';

const on = (resource: GrantedResource, action: string): string => `${action} on ${resource}`;

const tableOf = (name: string): GrantedResource => {
  const { output } = ledger;
  if (name === output(`${at}State`)) return 'state-table';
  if (name === output(`${at}Control`)) return 'control-table';
  if (name === output(`${at}DeadLetters`)) return 'dead-letter-table';
  if (name === output('Control')) return 'cloned-control-table';
  const sinks = ['Journal', 'Balance'].map((sink) => output(`${at}${sink}`));
  // What is neither may not be used at all.
  expect(sinks).toContain(name);
  return 'sink-tables';
};

/** What IAM calls a request to DynamoDB; statements are judged by what they do. */
const readDynamodb = ({ operation, body }: RecordedRequest): string[] => {
  const { TableName, RequestItems, Statements } = JSON.parse(body) as {
    TableName?: string;
    RequestItems?: Record<string, unknown>;
    Statements?: { Statement: string }[];
  };
  if (Statements !== undefined) {
    return Statements.map(({ Statement }) => {
      const [, verb, table] = /^(INSERT INTO|UPDATE|DELETE FROM) "([^"]+)"/.exec(Statement)!;
      const action = { 'INSERT INTO': 'Insert', UPDATE: 'Update', 'DELETE FROM': 'Delete' }[verb!]!;
      return on(tableOf(table!), `dynamodb:PartiQL${action}`);
    });
  }
  const tables = TableName === undefined ? Object.keys(RequestItems ?? {}) : [TableName];
  return tables.map((table) => on(tableOf(table), `dynamodb:${operation}`));
};

const readS3 = ({ method, url }: RecordedRequest): string[] => {
  const isBackup = decodeURIComponent(url).includes(backupPrefix);
  const isCloned = !url.includes(ledger.output(`${at}Bucket`));
  const ofBucket = isCloned ? 'cloned-bucket' : isBackup ? 'backup' : 'bucket';
  const ofObjects = isCloned ? 'cloned-job-objects' : isBackup ? 'backup-objects' : 'job-objects';
  if (url.includes('list-type')) return [on(ofBucket, 's3:ListBucket')];
  const isDeletion = method === 'DELETE' || url.includes('?delete');
  const action = isDeletion ? 'Delete' : method === 'PUT' ? 'Put' : 'Get';
  return [on(ofObjects, `s3:${action}Object`)];
};

beforeAll(async () => {
  ledger = await startLedgerAws({ hasTwin: true });
  const { aws, output } = ledger;
  const readers: Record<
    'dynamodb' | 'kinesis' | 's3' | 'lambda',
    (r: RecordedRequest) => string[]
  > = {
    dynamodb: readDynamodb,
    kinesis: ({ operation }) => [on('stream', `kinesis:${operation}`)],
    s3: readS3,
    lambda: ({ url }) => [
      url.includes('event-source-mappings')
        ? on('event-source-mappings', 'lambda:GetEventSourceMapping')
        : on('operator-functions', 'lambda:InvokeFunction'),
    ],
  };
  const env: Record<string, string> = {};
  for (const [service, read] of Object.entries(readers)) {
    const target = aws.endpoints[service as keyof typeof readers];
    const proxy = await startRecordingProxy(target, (request) => {
      for (const action of read(request)) recorded.add(action);
    });
    proxies.push(proxy);
    env[`AWS_ENDPOINT_URL_${service.toUpperCase()}`] = proxy.endpoint;
  }
  const sinks = { journal: 'append', balance: 'upsert' } as const;
  const describe = (prefix: Prefix): WorkflowEnvironment => ({
    job: prefix === '' ? ledgerJob : `${ledgerJob}-b`,
    streamArn: `arn:aws:kinesis:us-east-1:000000000000:stream/${output('Stream')}`,
    stateTable: output(`${prefix}State`),
    controlTable: output(`${prefix}Control`),
    deadLetterTable: output(`${prefix}DeadLetters`),
    bucket: output(`${prefix}Bucket`),
    operatorFunctions: new Map([['moody', output(`${prefix}Operator`)]]),
    sinks: Object.entries(sinks).map(([name, kind]) => ({
      ...{ operator: 'moody', name, kind },
      table: output(`${prefix}${name === 'journal' ? 'Journal' : 'Balance'}`),
    })),
    mappings: new Map([['moody', aws.mappings[0]!.id]]),
    backup: { bucket: output('Bucket'), prefix: backupPrefix },
  });
  const cloned = { job: ledgerJob, controlTable: output('Control'), bucket: output('Bucket') };
  Object.assign(process.env, env, {
    AWS_REGION: aws.region,
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  });
  handler = createStepHandler({ ...writeWorkflowEnvironment(describe('')), ...env });
  const clone = { ...describe('Twin'), cloned };
  twinHandler = createStepHandler({ ...writeWorkflowEnvironment(clone), ...env });
});

afterAll(async () => {
  for (const proxy of proxies) await proxy.stop();
  await ledger?.stop();
});

const context = { getRemainingTimeInMillis: () => 240_000 };

const runHere = async (
  which: keyof typeof workflows,
  input: Record<string, string | boolean>,
): Promise<Record<string, unknown>> => {
  const execution = await run(workflows[which], input, {
    functions: { steps: (event) => (at === '' ? handler : twinHandler)(event, context) },
  });
  const { status, output, cause } = execution.state();
  expect(status, cause).toBe('SUCCEEDED');
  return JSON.parse(output!) as Record<string, unknown>;
};

/** What takes an endpoint that cannot do batches of statements, or a manifest as old as what the stream keeps. */
const rarelyUsed = [
  on('state-table', 'dynamodb:PutItem'),
  on('dead-letter-table', 'dynamodb:PutItem'),
  on('stream', 'kinesis:GetRecords'),
  on('stream', 'kinesis:GetShardIterator'),
];

/** A row of the abandoned time that no replay makes again. */
const addZombieRow = async (name: 'Journal' | 'DeadLetters'): Promise<void> => {
  const { clients, output } = ledger;
  const TableName = output(name);
  const { Items } = await clients.dynamodb.send(new ScanCommand({ TableName }));
  const newest = Items!.reduce((a, b) => (a['_position']!.S! > b['_position']!.S! ? a : b));
  const Item = { ...newest, sk: { S: `${newest['sk']!.S!}-zombie` } };
  await clients.dynamodb.send(new PutItemCommand({ TableName, Item }));
};

describe('the rights of the function of the workflows', () => {
  it('are what it uses, no less and no more', async () => {
    await ledger.put(1, 20);
    await ledger.whenDone();
    const { object } = await runHere('savepoint', { label: 'one' });
    await runHere('savepoint', { label: 'two', stops: true });
    await handler({ step: 'job.resume' }, context);
    await ledger.put(21, 40);
    await ledger.whenDone();
    await addZombieRow('Journal');
    await addZombieRow('DeadLetters');
    const forth = await runHere('restore', { manifest: String(object), restore: 'forth' });
    expect(forth).toMatchObject({ removedRows: 2 });
    expect(await ledger.visible()).toEqual(ledger.expected(40));
    const { manifests } = (await handler({ step: 'job.describe' }, context)) as {
      manifests: { kind: string; object: string }[];
    };
    // A copy of a savepoint is made, and read.
    await runHere('restore', {
      ...{ manifest: String(object), restore: 'copied', dryRun: true, fromBackup: true },
    });
    const undo = manifests.find(({ kind }) => kind === 'undo')!.object;
    await runHere('restore', { manifest: undo, restore: 'back' });
    await runHere('restore', { manifest: String(object), restore: 'drill', dryRun: true });
    await handler({ step: 'savepoint.delete', label: 'two' }, context);
    expect(await ledger.visible()).toEqual(ledger.expected(40));
    const granted = STEP_PERMISSIONS.flatMap((permission) =>
      ['log-group', 'stream-key', 'storage-key'].includes(permission.on) ||
      permission.on.startsWith('cloned-')
        ? []
        : permission.actions.map((action) => on(permission.on, action)),
    );
    expect([...recorded, ...rarelyUsed].sort()).toEqual(granted.sort());
  });

  it('are, of what another job has, what a clone of it uses', async () => {
    const { object } = await runHere('savepoint', { label: 'cut' });
    await ledger.put(41, 60);
    recorded = new Set();
    at = 'Twin';
    const check = { step: 'clone.check', from: 'cut', restore: 'c1' };
    expect(await twinHandler(check, context)).toMatchObject({ cloned: ledgerJob, object });
    const order = { manifest: String(object), clones: true, restore: 'c1' };
    expect(await runHere('restore', order)).toMatchObject({ generation: 2 });
    const granted = STEP_PERMISSIONS.filter(
      ({ on: what }) => what.startsWith('cloned-') && !what.endsWith('-key'),
    ).flatMap(({ on: what, actions }) => actions.map((action) => on(what, action)));
    const used = [...recorded].filter((right) => right.includes(' on cloned-'));
    // Listing is what makes a missing object 404.
    const implied = on('cloned-bucket', 's3:ListBucket');
    expect([...used, implied].sort()).toEqual(granted.sort());
  });
});
