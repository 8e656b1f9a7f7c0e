import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { Vpc } from 'aws-cdk-lib/aws-ec2';
import { RemovalPolicy, type Stack } from 'aws-cdk-lib/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StreamJob } from '../../../infra/stream-job.ts';
import { provisionedStream } from '../../../infra/stream-source.ts';
import { createDynamodbControlStore } from '../../../shared/adapters/dynamodb/dynamodb-control-store.ts';
import { nodeSystem } from '../../../shared/adapters/system/node-system.ts';
import { startJobAws, type JobAws } from '../embedded/start-job-aws.ts';

/*
 * Deployments that change a job, as CloudFormation asks the registrar for them. The job is encrypted with a key of its own, and
 * in a VPC: the local AWS takes such a template, too.
 */

const SINKS = { airports: 'upsert', alerts: 'append', hours: 'append', late: 'append' } as const;

function addJob(stack: Stack): Record<string, string> {
  const job = new StreamJob(stack, 'Job', {
    jobName: 'flights',
    source: provisionedStream({ shards: 1 }),
    operators: [
      {
        id: 'flight-delays',
        entry: 'functions/flight-delays/handler.ts',
        sinks: SINKS,
      },
    ],
    maxParallelism: 8,
    encryption: 'customer-managed',
    vpc: {
      vpc: Vpc.fromVpcAttributes(stack, 'Vpc', {
        vpcId: 'vpc-0a1b2c3d',
        availabilityZones: ['us-east-1a'],
        privateSubnetIds: ['subnet-0a1b2c3d'],
      }),
    },
    removalPolicy: RemovalPolicy.DESTROY,
  });
  return {
    Registrar: job.registrarFunction.functionName,
    StreamArn: job.stream.streamArn,
    Control: job.controlTable.tableName,
    Key: job.encryptionKey!.keyArn,
  };
}

let started: JobAws;
let server: Server;
let answers: Record<string, unknown>[] = [];

beforeAll(async () => {
  started = await startJobAws('Deployed', addJob);
  server = createServer((request, response) => {
    void json(request).then((answer) => {
      answers.push(answer as Record<string, unknown>);
      response.end();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
});

afterAll(async () => {
  server?.close();
  await started?.stop();
});

/** What a stack's update sends; `old` is what it was sent before, which may have failed. */
async function update(
  changes: Record<string, unknown>,
  { old = {}, id = 'holdfast-job-flights' }: { old?: object; id?: string } = {},
): Promise<Record<string, unknown>> {
  const { aws } = started;
  const properties = {
    JobName: 'flights',
    MaxParallelism: '8',
    Operators: ['flight-delays'],
    Sinks: SINKS,
    StreamArn: aws.outputs['StreamArn']!,
  };
  answers = [];
  const result = await aws.functions.get(aws.outputs['Registrar']!).invoke(
    JSON.stringify({
      RequestType: 'Update',
      ResponseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      StackId: 'arn:aws:cloudformation:us-east-1:000000000000:stack/Deployed/1',
      RequestId: randomUUID(),
      LogicalResourceId: 'JobRegistrationJob',
      PhysicalResourceId: id,
      ResourceProperties: { ...properties, ...changes },
      OldResourceProperties: { ...properties, ...old },
    }),
  );
  expect(result).toMatchObject({ kind: 'success' });
  expect(answers).toHaveLength(1);
  return answers[0]!;
}

const readJob = () => {
  const table = started.aws.outputs['Control']!;
  const client = started.clients.dynamodb;
  return createDynamodbControlStore({ client, table, system: nodeSystem }).readJob('flights');
};

const REFUSED: readonly (readonly [string, Record<string, unknown>, RegExp])[] = [
  [
    'another maxParallelism',
    { MaxParallelism: '16' },
    /job flights has maxParallelism 8, the deployment asks for 16: .+ deploy 8, or a job of another name/,
  ],
  [
    'a renamed operator',
    { Operators: ['late-delays'] },
    /job flights has operators flight-delays that the deployment lacks, .+ keep the id, or/,
  ],
  [
    'a view that becomes a log',
    { Sinks: { ...SINKS, airports: 'append' } },
    /job flights has sinks of another kind than the deployment: airports \(upsert so far, append in the deployment\): .+ give the new sink another name/,
  ],
  [
    'a kind of sink that there is not',
    { Sinks: { ...SINKS, airports: 'stream' } },
    /job flights has sink airports of kind "stream", expected append or upsert/,
  ],
  [
    'another stream',
    { StreamArn: 'arn:aws:kinesis:us-east-1:000000000000:stream/other' },
    /the deployment gives it arn:aws:kinesis:us-east-1:000000000000:stream\/other: .+ deploy it with the stream that it has/,
  ],
  [
    'another name',
    { JobName: 'trains' },
    /the job of holdfast-job-flights is asked to be trains; the name is a contract: .+ Keep the name/,
  ],
];

describe('a deployment', () => {
  it('encrypts with a key of the account', () => {
    expect(started.aws.outputs['Key']).toMatch(/^arn:aws:kms:us-east-1:000000000000:key\/.+/);
  });

  it('that changes nothing is taken', async () => {
    const before = await readJob();
    expect(before?.sinks).toEqual(SINKS);
    expect(await update({})).toMatchObject({
      Status: 'SUCCESS',
      PhysicalResourceId: 'holdfast-job-flights',
    });
    expect(await readJob()).toEqual(before);
  });

  it.each(REFUSED)(
    'with %s is refused with the reason, and rolled back',
    async (_, changes, why) => {
      const before = await readJob();
      const refused = await update(changes);
      expect(refused).toMatchObject({
        Status: 'FAILED',
        PhysicalResourceId: 'holdfast-job-flights',
      });
      expect(refused['Reason']).toMatch(why);
      expect(await readJob()).toEqual(before);
      // CloudFormation goes back to what was: the properties that were refused are the old ones now.
      expect(await update({}, { old: changes })).toMatchObject({ Status: 'SUCCESS' });
      expect(await readJob()).toEqual(before);
    },
  );

  it('without a sink that there was is taken, and so is one of a job that never had any', async () => {
    const { airports: _, ...rest } = SINKS;
    expect(await update({ Sinks: rest })).toMatchObject({ Status: 'SUCCESS' });
    expect((await readJob())?.sinks).toEqual(rest);
    expect(await update({ Sinks: undefined })).toMatchObject({ Status: 'SUCCESS' });
    expect((await readJob())?.sinks).toEqual({});
    expect(await update({})).toMatchObject({ Status: 'SUCCESS' });
    expect((await readJob())?.sinks).toEqual(SINKS);
  });
});
