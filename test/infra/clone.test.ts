import { Duration, Stack } from 'aws-cdk-lib/core';
import { describe, expect, it } from 'vitest';
import { StreamJob } from '../../infra/stream-job.ts';
import { existingStream } from '../../infra/stream-source.ts';
import {
  createJob,
  listResources,
  listResourcesOfType,
  operatorProps,
  withoutBundling,
  type Resource,
} from './synthesize-job.ts';

/** A job and its clone, in one stack. */
function synthesize(): Readonly<Record<string, Resource>> {
  const { stack, job } = createJob({
    operators: [operatorProps({ sinks: { airports: 'upsert' } })],
  });
  new StreamJob(stack, 'Twin', {
    jobName: 'flights-b',
    cloneOf: job,
    source: existingStream(job.stream, { retention: Duration.hours(24) }),
    operators: [operatorProps({ sinks: { airports: 'upsert' } })],
    bundle: withoutBundling,
  });
  expect(Stack.of(job)).toBe(stack);
  return listResources(stack);
}

const resources = synthesize();

const named = (type: string, prefix: string) => {
  const found = listResourcesOfType(resources, type).filter(({ logicalId }) =>
    logicalId.startsWith(prefix),
  );
  expect(found, `${type} ${prefix}`).toHaveLength(1);
  return found[0]!;
};

const theirs = {
  control: named('AWS::DynamoDB::Table', 'JobControl').logicalId,
  bucket: named('AWS::S3::Bucket', 'JobCheckpoints').logicalId,
};

describe('a clone', () => {
  it('is registered as one, and the other job as none', () => {
    const registered = (prefix: string) =>
      named('Custom::HoldfastJob', prefix).Properties['CloneOf'];
    expect(registered('TwinRegistration')).toBe('flights');
    expect(registered('JobRegistration')).toBeUndefined();
  });

  it('reads the stream of the other job from its oldest record on (R12)', () => {
    expect(listResourcesOfType(resources, 'AWS::Kinesis::Stream')).toHaveLength(1);
    const [first, second] = listResourcesOfType(resources, 'AWS::Lambda::EventSourceMapping');
    for (const { Properties } of [first!, second!]) {
      expect(Properties['StartingPosition']).toBe('TRIM_HORIZON');
      expect(Properties['EventSourceArn']).toEqual(first!.Properties['EventSourceArn']);
    }
  });

  it('may read what the other job has in its bucket, pin there, and no more', () => {
    const policies = listResourcesOfType(resources, 'AWS::IAM::Policy').filter(({ logicalId }) =>
      logicalId.startsWith('Twin'),
    );
    const about = policies.flatMap(({ logicalId, Properties }) =>
      (
        Properties['PolicyDocument'] as { Statement: { Action: unknown; Resource: unknown }[] }
      ).Statement.filter(({ Resource: on }) =>
        Object.values(theirs).some((id) => JSON.stringify(on).includes(id)),
      ).map(({ Action, Resource: on }) => ({ logicalId, Action, on: JSON.stringify(on) })),
    );
    expect(about.map(({ Action }) => Action)).toEqual([
      's3:GetObject',
      's3:ListBucket',
      ['dynamodb:GetItem', 'dynamodb:PutItem'],
    ]);
    for (const { logicalId } of about) expect(logicalId).toMatch(/^TwinStepsHandler/);
    expect(about[0]!.on).toContain('/jobs/flights/*');
  });

  it('tells its workflows where the other job is', () => {
    const { Properties } = named('AWS::Lambda::Function', 'TwinSteps');
    const { Variables } = Properties['Environment'] as { Variables: Record<string, unknown> };
    const text = JSON.stringify(Variables['HOLDFAST_CLONED_JOB']);
    for (const id of ['flights', ...Object.values(theirs)]) expect(text).toContain(id);
    const other = named('AWS::Lambda::Function', 'JobSteps').Properties['Environment'];
    expect(JSON.stringify(other)).not.toContain('HOLDFAST_CLONED_JOB');
  });
});
