import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { KinesisClient } from '@aws-sdk/client-kinesis';
import type { S3Client } from '@aws-sdk/client-s3';
import type { Clinic } from '../../../cli/doctor/clinic.ts';
import type { DoctorClients } from '../../../cli/doctor/doctor-clients.ts';
import { dynamodbClinic } from '../../../cli/doctor/dynamodb/dynamodb-clinic.ts';
import type { Finding } from '../../../cli/doctor/finding.ts';
import { kinesisClinic } from '../../../cli/doctor/kinesis/kinesis-clinic.ts';
import { runClinic } from '../../../cli/doctor/run-clinic.ts';
import { s3Clinic } from '../../../cli/doctor/s3/s3-clinic.ts';
import { createTemporaryResources } from '../../../cli/doctor/temporary-resources.ts';
import { startDynamoDb } from '../../../localstack/embedded/emulators/dynamodb.ts';
import type { Emulator } from '../../../localstack/embedded/emulators/emulator.ts';
import { startKinesis } from '../../../localstack/embedded/emulators/kinesis.ts';
import { startS3 } from '../../../localstack/embedded/emulators/s3.ts';
import { connectDynamoDb, connectKinesis, connectS3 } from '../emulators/sdk-clients.ts';
import { spoil, unknown, without, type Gap } from './spoil.ts';

/*
 * Endpoints with gaps: the embedded services, spoilt one by one. Every probe has to notice its own.
 */

let emulators: Emulator[] = [];
let dynamodb: DynamoDBClient;
let s3: S3Client;
let kinesis: KinesisClient;

beforeAll(async () => {
  const [tables, objects, streams] = await Promise.all([
    startDynamoDb(),
    startS3(),
    startKinesis(),
  ]);
  emulators = [tables, objects, streams];
  dynamodb = connectDynamoDb(tables);
  s3 = connectS3(objects);
  kinesis = connectKinesis(streams);
}, 60_000);

afterAll(async () => {
  for (const client of [dynamodb, s3, kinesis]) client.destroy();
  await Promise.all(emulators.map((emulator) => emulator.stop()));
});

/** Runs the probes whose capability begins so; all without it. @returns capability → finding */
async function run<Bed>(
  clinic: Clinic<Bed>,
  clients: Partial<DoctorClients>,
  only: readonly string[] = [''],
): Promise<Map<string, Finding>> {
  const temporary = createTemporaryResources();
  const probes = clinic.probes.filter(({ capability }) =>
    only.some((start) => capability.startsWith(start)),
  );
  try {
    const diagnoses = await runClinic(
      { ...clinic, probes },
      {
        supplies: {
          clients: clients as DoctorClients,
          ...{ temporary, roleArn: undefined, patience: 1 },
        },
        signal: new AbortController().signal,
        tell: () => undefined,
      },
    );
    return new Map(diagnoses.map(({ capability, finding }) => [capability, finding]));
  } finally {
    expect(await temporary.removeAll()).toEqual([]);
  }
}

const resultsOf = (found: ReadonlyMap<string, Finding>): string[] =>
  [...found].map(([capability, finding]) =>
    finding.result === 'works' ? 'works' : `${capability}: ${JSON.stringify(finding)}`,
  );

type Row = readonly [title: string, capability: string, result: Finding['result'], gap: Gap];

describe('the probes of DynamoDB', () => {
  it('find that the embedded one works', async () => {
    const found = await run(dynamodbClinic, { dynamodb });
    expect(found.size).toBe(14);
    expect(resultsOf(found)).toEqual(Array<string>(14).fill('works'));
  });

  const noCondition = without(
    ...['ConditionExpression', 'ExpressionAttributeNames', 'ExpressionAttributeValues'],
  );

  it.each<Row>([
    [
      ...(['puts without conditions', 'conditions on puts', 'differs'] as const),
      { commands: ['PutItemCommand'], input: noCondition },
    ],
    [
      ...(['puts without conditions in a race', 'one winner', 'differs'] as const),
      { commands: ['PutItemCommand'], input: noCondition },
    ],
    [
      ...(['deletes without conditions', 'conditions on deletes', 'differs'] as const),
      { commands: ['DeleteItemCommand'], input: noCondition },
    ],
    [
      ...(['no transactions', 'transactions', 'missing'] as const),
      { commands: ['TransactWriteItemsCommand'], input: unknown },
    ],
    [
      ...(['transactions without tokens', 'transactions', 'differs'] as const),
      { commands: ['TransactWriteItemsCommand'], input: without('ClientRequestToken') },
    ],
    [
      ...(['batches that do nothing', 'batches of 25', 'differs'] as const),
      { commands: ['BatchWriteItemCommand'], isIgnored: true },
    ],
    [
      ...(['no time to live', 'time to live', 'missing'] as const),
      { commands: ['UpdateTimeToLiveCommand'], input: unknown },
    ],
    [
      ...(['no statements', 'statements of a batch', 'missing'] as const),
      { commands: ['BatchExecuteStatementCommand'], input: unknown },
    ],
    [
      ...(['no statements', "what the runtime's own probe", 'differs'] as const),
      { commands: ['BatchExecuteStatementCommand'], input: unknown },
    ],
    [
      ...(['statements that are all refused', 'UPDATE of two SETs', 'differs'] as const),
      {
        commands: ['BatchExecuteStatementCommand'],
        reply: (reply) => (reply['Responses'] = [{ Error: { Code: 'ValidationError' } }]),
      },
    ],
    [
      ...(['statements without conditions', 'UPDATE under conditions', 'differs'] as const),
      { commands: ['BatchExecuteStatementCommand'], reply: (r) => (r['Responses'] = [{}]) },
    ],
    [
      ...(['whole items', 'consistent reads of 100', 'differs'] as const),
      {
        commands: ['BatchGetItemCommand'],
        input: (input) => {
          for (const keys of Object.values(input['RequestItems'] as object)) {
            without(
              'ProjectionExpression',
              'ExpressionAttributeNames',
            )(keys as Record<string, unknown>);
          }
        },
      },
    ],
    [
      ...(['queries backwards', 'queries in order', 'differs'] as const),
      { commands: ['QueryCommand'], input: (input) => (input['ScanIndexForward'] = false) },
    ],
    [
      ...(['scans that begin anew', 'scans that go on', 'differs'] as const),
      { commands: ['ScanCommand'], input: without('ExclusiveStartKey') },
    ],
    [
      ...(['one page', 'pages end at 1 MB', 'differs'] as const),
      { commands: ['QueryCommand'], reply: without('LastEvaluatedKey') },
    ],
  ])('notice %s', async (_title, capability, result, gap) => {
    const found = await run(dynamodbClinic, { dynamodb: spoil(dynamodb, gap) }, [capability]);
    expect([...found.values()]).toMatchObject([{ result }]);
  });

  it('are all untried where no table can be made', async () => {
    const gap: Gap = { commands: ['CreateTableCommand'], input: unknown };
    const found = await run(dynamodbClinic, { dynamodb: spoil(dynamodb, gap) });
    expect(new Set([...found.values()].map(({ result }) => result))).toEqual(new Set(['untried']));
  });
});

describe('the probes of S3', () => {
  it('find that the embedded one works', async () => {
    const found = await run(s3Clinic, { s3 });
    expect(resultsOf(found)).toEqual(Array<string>(5).fill('works'));
  });

  it.each<Row>([
    [
      ...(['puts that replace', 'create only', 'differs'] as const),
      { commands: ['PutObjectCommand'], input: without('IfNoneMatch') },
    ],
    [
      ...(['races that all win', 'one winner', 'differs'] as const),
      { commands: ['PutObjectCommand'], input: without('IfNoneMatch') },
    ],
    [
      ...(['no ranges', 'ranges', 'differs'] as const),
      { commands: ['GetObjectCommand'], input: without('Range') },
    ],
    [
      ...(['listings without prefix', 'listing', 'differs'] as const),
      { commands: ['ListObjectsV2Command'], input: without('Prefix') },
    ],
    [
      ...(['listings in another order', 'listing', 'differs'] as const),
      {
        commands: ['ListObjectsV2Command'],
        reply: (reply) => (reply['Contents'] as unknown[] | undefined)?.reverse(),
      },
    ],
    [
      ...(['listings of one page', 'listing', 'differs'] as const),
      {
        commands: ['ListObjectsV2Command'],
        reply: without('NextContinuationToken'),
      },
    ],
    [
      ...(['deletes of the first one only', 'many deletes', 'differs'] as const),
      {
        commands: ['DeleteObjectsCommand'],
        input: (input) => {
          const { Objects = [] } = input['Delete'] as { Objects?: unknown[] };
          if (Objects.length === 3) input['Delete'] = { Objects: Objects.slice(0, 1) };
        },
      },
    ],
  ])('notice %s', async (_title, capability, result, gap) => {
    const found = await run(s3Clinic, { s3: spoil(s3, gap) }, [capability]);
    expect([...found.values()]).toMatchObject([{ result }]);
  });
});

describe('the probes of Kinesis', () => {
  it('find that the embedded one works', async () => {
    const found = await run(kinesisClinic, { kinesis });
    expect(resultsOf(found)).toEqual(Array<string>(6).fill('works'));
  }, 60_000);

  const shards = (change: (shard: Record<string, unknown>) => void): Gap => ({
    commands: ['ListShardsCommand'],
    reply: (reply) => (reply['Shards'] as Record<string, unknown>[]).forEach(change),
  });
  const records = (change: (all: Record<string, unknown>[]) => unknown): Gap => ({
    commands: ['GetRecordsCommand'],
    reply: (reply) => change(reply['Records'] as Record<string, unknown>[]),
  });

  it.each<Row>([
    [
      ...(['no creation time', 'creation time', 'differs'] as const),
      {
        commands: ['DescribeStreamSummaryCommand'],
        reply: (reply) =>
          without('StreamCreationTimestamp')(
            reply['StreamDescriptionSummary'] as Record<string, unknown>,
          ),
      },
    ],
    ['records backwards', 'records in order', 'differs', records((all) => all.reverse())],
    [
      ...(['sequence numbers that are none', 'records in order', 'differs'] as const),
      records((all) => all.forEach((one, at) => (one['SequenceNumber'] = `s${at}`))),
    ],
    [
      ...(['iterators that begin at the oldest', 'reading on', 'differs'] as const),
      {
        commands: ['GetShardIteratorCommand'],
        input: (input) => {
          delete input['StartingSequenceNumber'];
          input['ShardIteratorType'] = 'TRIM_HORIZON';
        },
      },
    ],
    ['children without parents', 'a split', 'differs', shards(without('ParentShardId'))],
    [
      ...(['shards without an end', 'a split', 'differs'] as const),
      {
        commands: ['GetRecordsCommand'],
        reply: (reply) => (reply['NextShardIterator'] ??= 'once more'),
      },
    ],
    [
      ...(['hash keys that count for nothing', 'explicit hash keys', 'differs'] as const),
      {
        commands: ['PutRecordsCommand'],
        input: (input) =>
          (input['Records'] as Record<string, unknown>[]).forEach(without('ExplicitHashKey')),
      },
    ],
    ['merges with one parent', 'a merge', 'differs', shards(without('AdjacentParentShardId'))],
  ])(
    'notice %s',
    async (_title, capability, result, gap) => {
      const before = ['records in order', 'a split'].filter((name) => name !== capability);
      const needs = ['explicit hash keys', 'a merge'].includes(capability) ? before : [];
      const only = [...(capability === 'reading on' ? ['records in order'] : needs), capability];
      const found = await run(kinesisClinic, { kinesis: spoil(kinesis, gap) }, only);
      expect([...found.values()].at(-1)).toMatchObject({ result });
    },
    60_000,
  );
});
