import { ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { ListStreamsCommand } from '@aws-sdk/client-kinesis';
import { ListBucketsCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Diagnosis } from '../../../cli/doctor/finding.ts';
import { temporaryPrefix } from '../../../cli/doctor/temporary-resources.ts';
import {
  startLocalServices,
  type LocalServices,
} from '../../../localstack/embedded/local-services.ts';
import {
  createServiceClients,
  type ServiceClients,
} from '../../../localstack/embedded/service-clients.ts';
import type { StateMachines } from '../../../localstack/embedded/step-functions/state-machines.ts';
import { startCli } from '../demo/run-cli.ts';
import { pollUntil } from '../embedded/poll-until.ts';

let services: LocalServices;
let clients: ServiceClients;
let env: Record<string, string>;

beforeAll(async () => {
  const stateMachines: StateMachines = {
    create: () => expect.unreachable('no template'),
    ...{ list: () => [], find: () => undefined, stop: () => Promise.resolve() },
  };
  services = await startLocalServices({ functions: new Map(), mappings: [], stateMachines });
  clients = createServiceClients(services.endpoints, 'us-east-1');
  const { endpoints } = services;
  env = {
    AWS_ENDPOINT_URL: '',
    AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamodb,
    AWS_ENDPOINT_URL_S3: endpoints.s3,
    AWS_ENDPOINT_URL_KINESIS: endpoints.kinesis,
    AWS_ENDPOINT_URL_LAMBDA: endpoints.lambda,
    AWS_ENDPOINT_URL_SFN: endpoints.stepFunctions,
  };
}, 60_000);

afterAll(async () => {
  clients.destroy();
  await services.stop();
});

/** The names of temporary tables, streams and buckets that are there. */
async function listTemporary(): Promise<string[]> {
  const { TableNames = [] } = await clients.dynamodb.send(new ListTablesCommand());
  const { StreamNames = [] } = await clients.kinesis.send(new ListStreamsCommand());
  const { Buckets = [] } = await clients.s3.send(new ListBucketsCommand());
  const buckets = Buckets.map(({ Name = '' }) => Name);
  return [...TableNames, ...StreamNames, ...buckets].filter((name) =>
    name.startsWith(temporaryPrefix),
  );
}

describe('holdfast doctor', () => {
  it('tells of the embedded AWS what works, and what it cannot try, and leaves nothing', async () => {
    const { printed, ended } = startCli(['doctor', '--json'], { env });
    expect(await ended).toBe(2);
    const { verdict, probes, left } = JSON.parse(printed.out) as {
      readonly verdict: string;
      readonly probes: readonly Diagnosis[];
      readonly left: readonly string[];
    };
    expect([verdict, left]).toEqual(['unknown', []]);
    const results = Map.groupBy(probes, ({ service }) => service);
    for (const [service, rows] of results) {
      const expected = ['lambda', 'workflows'].includes(service) ? 'untried' : 'works';
      expect(rows.map(({ finding }) => finding.result)).toEqual(rows.map(() => expected));
    }
    expect([...results.keys()]).toEqual(['dynamodb', 's3', 'kinesis', 'lambda', 'workflows']);
    const mapping = results.get('lambda')![0]!.finding;
    expect(mapping).toMatchObject({
      why: expect.stringContaining('not supported locally') as string,
    });
    expect(printed.err).toBe('');
    expect(await listTemporary()).toEqual([]);
  }, 120_000);

  it('is content where all that is asked for works', async () => {
    const { printed, ended } = startCli(['doctor', '--only', 's3'], { env });
    expect(await ended).toBe(0);
    expect(printed.out).toContain('USABLE: everything that Holdfast needs works');
    expect(printed.out).toMatch(/s3 +ranges +works +needed: /);
  }, 60_000);

  it('takes away what it has made at Ctrl-C', async () => {
    const { child, printed, ended } = startCli(['doctor', '--only', 'kinesis,s3'], { env });
    await pollUntil('something temporary', async () =>
      (await listTemporary()).length > 0 ? true : undefined,
    );
    child.kill('SIGINT');
    expect(await ended).toBe(130);
    expect(printed.err).toContain('taking away what was made');
    expect(printed.out).toBe('');
    expect(await listTemporary()).toEqual([]);
  }, 60_000);

  it('asks nothing of AWS itself unless it is told to', async () => {
    const { printed, ended } = startCli(['doctor'], { env: { AWS_ENDPOINT_URL: '' } });
    expect(await ended).toBe(2);
    expect(printed.err).toMatch(/would be asked of AWS itself.*--endpoint <url>.*--aws/);
  });

  it('says that it could not ask where nobody listens', async () => {
    const args = ['doctor', '--only', 's3', '--endpoint', 'http://127.0.0.1:9'];
    const { printed, ended } = startCli(args, { env: {} });
    expect(await ended).toBe(2);
    expect(printed.out).toMatch(/UNKNOWN: 5 things .*could not be tried, of s3/);
    expect(printed.out).toContain('ECONNREFUSED');
  }, 60_000);

  it('refuses a service that it does not know', async () => {
    const { printed, ended } = startCli(['doctor', '--only', 's3,sqs'], { env });
    expect(await ended).toBe(2);
    expect(printed.err).toContain('got sqs');
  });
});
