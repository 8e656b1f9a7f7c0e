import { Duration } from 'aws-cdk-lib/core';
import { describe, expect, it } from 'vitest';
import { readEnvironment, readRegistrarEnvironment } from '../../shared/config/environment.ts';
import {
  createJob,
  listResources,
  listResourcesOfType,
  operatorProps,
  type Resource,
} from './synthesize-job.ts';

const { stack, job } = createJob({
  operators: [
    operatorProps({ sinks: { airports: 'upsert', alerts: 'append' } }),
    operatorProps({
      id: 'routes',
      sinks: { routes: 'upsert' },
      batchSize: 10_000,
      batchingWindow: Duration.minutes(5),
      memorySize: 3_008,
      timeout: Duration.minutes(15),
    }),
  ],
});
const resources = listResources(stack);
const functions = listResourcesOfType(resources, 'AWS::Lambda::Function');
const delays = functions.find(({ logicalId }) => logicalId.startsWith('JobOperatordelays'));
const routes = functions.find(({ logicalId }) => logicalId.startsWith('JobOperatorroutes'));
const coordinator = functions.find(({ logicalId }) => logicalId.startsWith('JobCoordinator'));
const steps = functions.find(({ logicalId }) => logicalId.startsWith('JobSteps'));
const registrar = functions.find(({ logicalId }) => logicalId.startsWith('JobRegistration'));

/** The variables of a function, with references replaced by names that AWS could have given. */
function readVariables(of: Resource | undefined): Record<string, string> {
  const environment = of?.Properties['Environment'] as { Variables: Record<string, unknown> };
  return Object.fromEntries(
    Object.entries(environment.Variables).map(([name, value]) => [name, resolveText(value)]),
  );
}

function resolveText(value: unknown): string {
  if (typeof value === 'string') return value;
  const node = value as Record<string, unknown>;
  if (typeof node['Ref'] === 'string') {
    const isBucket = resources[node['Ref']]?.Type === 'AWS::S3::Bucket';
    return isBucket ? node['Ref'].toLowerCase() : node['Ref'];
  }
  if ('Fn::GetAtt' in node) return 'arn:aws:kinesis:eu-central-1:123456789012:stream/flights';
  const [separator, parts] = node['Fn::Join'] as [string, unknown[]];
  return parts.map(resolveText).join(separator);
}

describe('functions of a stream job', () => {
  it('are one for each operator, and one each for registration, checkpoints and workflows', () => {
    expect(functions).toHaveLength(5);
    expect([delays, routes, registrar, coordinator, steps]).not.toContain(undefined);
  });

  it.each([
    ['delays', delays],
    ['routes', routes],
    ['registrar', registrar],
    ['coordinator', coordinator],
  ])('run %s on Node 24 for arm64', (_, handler) => {
    expect(handler?.Properties).toMatchObject({
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Handler: 'index.handler',
    });
  });

  it('have one CPU and a minute by default', () => {
    expect(delays?.Properties).toMatchObject({ MemorySize: 1_769, Timeout: 60 });
  });

  it('have the memory and the time that they are told', () => {
    expect(routes?.Properties).toMatchObject({ MemorySize: 3_008, Timeout: 900 });
  });

  it('show source positions in stack traces', () => {
    for (const handler of functions) {
      expect(readVariables(handler)['NODE_OPTIONS']).toBe('--enable-source-maps');
    }
  });

  it('log to groups of their own', () => {
    const groups = functions.map(
      ({ Properties }) =>
        (Properties['LoggingConfig'] as { LogGroup: { Ref: string } }).LogGroup.Ref,
    );
    expect(new Set(groups).size).toBe(5);
    for (const group of groups) expect(resources[group]?.Type).toBe('AWS::Logs::LogGroup');
  });

  it('get an environment that the operator can read', () => {
    expect(readEnvironment(readVariables(delays))).toEqual({
      job: 'flights',
      operator: 'delays',
      streamArn: 'arn:aws:kinesis:eu-central-1:123456789012:stream/flights',
      stateTable: 'JobState0A30363F',
      controlTable: 'JobControlEED9BF57',
      deadLetterTable: 'JobDeadLetters365C97E6',
      bucket: 'jobcheckpoints2e60b73f',
      maxParallelism: 128,
      sinks: new Map([
        ['airports', 'JobSinkairports7121F369'],
        ['alerts', 'JobSinkalertsEC2629B5'],
      ]),
      retentionHours: 24,
    });
  });

  it('tell an operator of its own sinks only', () => {
    expect([...readEnvironment(readVariables(routes)).sinks.keys()]).toEqual(['routes']);
  });

  it('get an environment that the registrar can read', () => {
    expect(readRegistrarEnvironment(readVariables(registrar))).toEqual({
      controlTable: 'JobControlEED9BF57',
      bucket: 'jobcheckpoints2e60b73f',
    });
  });

  it('are found by the id of their operator', () => {
    expect(stack.resolve(job.operatorFunction('routes').functionName)).toEqual({
      Ref: routes?.logicalId,
    });
  });

  it('are not found by an id that no operator has', () => {
    expect(() => job.operatorFunction('route')).toThrow(
      '[Test/Job] StreamJob: one problem\n  - operator: got "route", expected one of "delays", "routes"; use a name that the job has',
    );
  });

  it('report how far an operator is behind', () => {
    expect(
      stack.resolve(job.metricIteratorAge('delays').toMetricConfig().metricStat),
    ).toMatchObject({
      namespace: 'AWS/Lambda',
      metricName: 'IteratorAge',
      statistic: 'Maximum',
      dimensions: [{ name: 'FunctionName', value: { Ref: delays?.logicalId } }],
    });
  });
});

describe('event source mappings of a stream job', () => {
  const mappings = listResourcesOfType(resources, 'AWS::Lambda::EventSourceMapping');

  it('spell every property on which the positions rest', () => {
    expect(mappings[0]?.Properties).toEqual({
      FunctionName: { Ref: delays?.logicalId },
      EventSourceArn: { 'Fn::GetAtt': ['JobSource9BA4C48F', 'Arn'] },
      StartingPosition: 'TRIM_HORIZON',
      BatchSize: 10_000,
      MaximumBatchingWindowInSeconds: 1,
      ParallelizationFactor: 1,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      BisectBatchOnFunctionError: false,
      MaximumRetryAttempts: -1,
      MaximumRecordAgeInSeconds: -1,
      DestinationConfig: {
        OnFailure: { Destination: { 'Fn::GetAtt': ['JobCheckpoints2E60B73F', 'Arn'] } },
      },
    });
  });

  it('take the batch settings of their operator', () => {
    expect(mappings[1]?.Properties).toMatchObject({
      FunctionName: { Ref: routes?.logicalId },
      BatchSize: 10_000,
      MaximumBatchingWindowInSeconds: 300,
    });
  });

  it('wait for the registration of the job', () => {
    const [registration] = listResourcesOfType(resources, 'Custom::HoldfastJob');
    expect(mappings).toHaveLength(2);
    for (const { DependsOn } of mappings) expect(DependsOn).toEqual([registration?.logicalId]);
  });
});

describe('registration of a stream job', () => {
  const registrations = listResourcesOfType(resources, 'Custom::HoldfastJob');

  it('tells the registrar what the job looks like', () => {
    expect(registrations.map(({ Properties }) => Properties)).toEqual([
      {
        ServiceToken: { 'Fn::GetAtt': [registrar?.logicalId, 'Arn'] },
        ServiceTimeout: '600',
        JobName: 'flights',
        MaxParallelism: 128,
        Operators: ['delays', 'routes'],
        Sinks: { airports: 'upsert', alerts: 'append', routes: 'upsert' },
        StreamArn: { 'Fn::GetAtt': ['JobSource9BA4C48F', 'Arn'] },
        StateTable: { Ref: 'JobState0A30363F' },
        ControlTable: { Ref: 'JobControlEED9BF57' },
        DeadLetterTable: { Ref: 'JobDeadLetters365C97E6' },
        Bucket: { Ref: 'JobCheckpoints2E60B73F' },
      },
    ]);
  });

  it('starts only when the registrar has its rights', () => {
    const [policy] = listResourcesOfType(resources, 'AWS::IAM::Policy').filter(({ logicalId }) =>
      logicalId.startsWith('JobRegistration'),
    );
    expect(policy).toBeDefined();
    expect(registrar?.DependsOn).toContain(policy?.logicalId);
  });
});
