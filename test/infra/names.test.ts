import type { Stack } from 'aws-cdk-lib/core';
import { describe, expect, it } from 'vitest';
import { FlightDelaysStack } from '../../infra/flight-delays-stack.ts';
import { StreamJob } from '../../infra/stream-job.ts';
import type { StreamJobProps } from '../../infra/stream-job-props.ts';
import { onDemandStream } from '../../infra/stream-source.ts';
import { Duration } from 'aws-cdk-lib/core';
import {
  createApp,
  createJob,
  listResources,
  operatorProps,
  readTemplate,
  withoutBundling,
  type Resource,
} from './synthesize-job.ts';

const job = (name: string): StreamJobProps => ({
  jobName: name,
  source: onDemandStream(),
  operators: [operatorProps({ sinks: { airports: 'upsert' } })],
  heartbeat: { every: Duration.minutes(1), behind: Duration.minutes(2) },
  encryption: 'customer-managed',
  bundle: withoutBundling,
});

/**
 * Properties by which a resource would have a name of its author's instead of one that CloudFormation generates from stack,
 * logical id and dice. The name of a policy is its role's alone.
 */
const NAMES = [
  ...['Name', 'AliasName', 'BucketName', 'FunctionName', 'GroupName', 'LogGroupName'],
  ...['RoleName', 'StateMachineName', 'TableName'],
];

function listGivenNames(resources: Readonly<Record<string, Resource>>): string[] {
  return Object.entries(resources)
    .filter(([, { Type }]) => Type !== 'AWS::Lambda::EventSourceMapping')
    .flatMap(([logicalId, { Properties }]) =>
      NAMES.filter((name) => Properties && name in Properties).map(
        (name) => `${logicalId}.${name}`,
      ),
    );
}

describe('the names of what a job creates', () => {
  it('are generated, every one', () => {
    const { stack } = createJob(job('flights'));
    expect(listGivenNames(listResources(stack))).toEqual([]);
  });

  it('would be found if there were some', () => {
    const { stack, job: created } = createJob(job('flights'));
    const table = created.stateTable.node.defaultChild as unknown as { tableName: string };
    table.tableName = 'state';
    expect(listGivenNames(listResources(stack))).toEqual(['JobState0A30363F.TableName']);
  });

  it('are generated from other logical ids for two jobs of one stack', () => {
    const { stack } = createJob(job('flights'));
    const before = new Set(stack.node.findAll().map(({ node }) => node.path));
    new StreamJob(stack, 'Second', job('trains'));
    expect(before.size).toBeGreaterThan(20);
    // Synthesis refuses two resources of one logical id.
    const ids = Object.keys(listResources(stack));
    const [first, second] = ['Job', 'Second'].map((of) => ids.filter((id) => id.startsWith(of)));
    expect(first!.length).toBe(second!.length);
    expect(first!.length + second!.length).toBe(ids.length);
  });
});

describe('two stages of the demonstration in one account', () => {
  const synthesize = (id: string, stage?: string) => {
    const app = createApp();
    const props = { bundle: withoutBundling, ...(stage === undefined ? {} : { stage }) };
    const stack: Stack = new FlightDelaysStack(app, id, props);
    return { name: stack.stackName, ...readTemplate(stack) };
  };
  const plain = synthesize('HoldfastFlightDelays');
  const test = synthesize('HoldfastFlightDelays-test', 'test');

  it('are stacks of their own, with no name of a resource in them', () => {
    expect(plain.name).not.toBe(test.name);
    for (const { Resources } of [plain, test]) expect(listGivenNames(Resources)).toEqual([]);
  });

  it('have the same logical ids, and another job', () => {
    expect(Object.keys(test.Resources)).toEqual(Object.keys(plain.Resources));
    const nameIn = (of: typeof test) =>
      Object.values(of.Resources).find(({ Type }) => Type === 'Custom::HoldfastJob')?.Properties[
        'JobName'
      ];
    expect(nameIn(plain)).toBe('flight-delays');
    expect(nameIn(test)).toBe('flight-delays-test');
  });

  it('export nothing, for exports are known to the whole account', () => {
    for (const { Outputs } of [plain, test]) {
      for (const output of Object.values(Outputs ?? {}))
        expect(output).not.toHaveProperty('Export');
    }
  });
});
