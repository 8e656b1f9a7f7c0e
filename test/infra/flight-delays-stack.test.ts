import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CfnStream } from 'aws-cdk-lib/aws-kinesis';
import { App } from 'aws-cdk-lib/core';
import { afterAll, describe, expect, it } from 'vitest';
import { FlightDelaysStack, type FlightDelaysStackProps } from '../../infra/flight-delays-stack.ts';
import {
  createApp,
  listResources,
  listResourcesOfType,
  readTemplate,
  withoutBundling,
} from './synthesize-job.ts';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-checked-'));
afterAll(() => rmSync(folder, { recursive: true }));

function createStack(props: FlightDelaysStackProps = {}, app = createApp()): FlightDelaysStack {
  return new FlightDelaysStack(app, 'HoldfastFlightDelays', { bundle: withoutBundling, ...props });
}

/** An app as `cdk synth` has it: with the context of the project, and CDK's own check on. */
function createCheckedApp(outdir: string): App {
  const { context } = JSON.parse(
    readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8'),
  ) as { context: Record<string, unknown> };
  return new App({ context, outdir: join(folder, outdir) });
}

const { Resources: resources, Outputs: outputs } = readTemplate(createStack());

describe('demonstration stack', () => {
  it('keeps the logical ids of what holds data', () => {
    const stateful = Object.entries(resources)
      .filter(([, { DeletionPolicy }]) => DeletionPolicy === 'Retain')
      .map(([logicalId]) => logicalId);
    expect(stateful).toEqual([
      'JobState0A30363F',
      'JobControlEED9BF57',
      'JobDeadLetters365C97E6',
      'JobSinkairports7121F369',
      'JobSinkalertsEC2629B5',
      'JobSinkhours17C9671E',
      'JobSinklateB75FE2D5',
      'JobCheckpoints2E60B73F',
      'JobSource9BA4C48F',
      'JobRegistrationRegistrarLogs4D36DBAD',
      'JobOperatorflightdelaysLogsCBE83061',
      'JobCoordinatorHandlerLogs4AA292E1',
      'JobStepsHandlerLogsA55E527B',
    ]);
  });

  it('uses only resource types that run offline, too', () => {
    const types = new Set(Object.values(resources).map(({ Type }) => Type));
    expect([...types].toSorted()).toEqual([
      'AWS::DynamoDB::Table',
      'AWS::IAM::Policy',
      'AWS::IAM::Role',
      'AWS::Kinesis::Stream',
      'AWS::Lambda::EventSourceMapping',
      'AWS::Lambda::Function',
      'AWS::Logs::LogGroup',
      'AWS::S3::Bucket',
      'AWS::S3::BucketPolicy',
      'AWS::Scheduler::Schedule',
      'AWS::StepFunctions::StateMachine',
      'Custom::HoldfastJob',
    ]);
  });

  it('reads four shards, or as many as it is told', () => {
    const shards = (of: FlightDelaysStack) =>
      listResourcesOfType(listResources(of), 'AWS::Kinesis::Stream')[0]?.Properties['ShardCount'];
    expect(shards(createStack())).toBe(4);
    expect(shards(createStack({ shards: 8 }))).toBe(8);
  });

  it('refuses a number of shards that is none', () => {
    const app = new App({ outdir: join(folder, 'refused') });
    expect(() => createStack({ shards: Number('four') }, app)).toThrow(
      '[HoldfastFlightDelays/Job] StreamJob: one problem\n  - source.shards: got NaN',
    );
  });

  it('retains nothing only when it is ephemeral', () => {
    const kept = Object.values(listResources(createStack({ ephemeral: true }))).filter(
      ({ DeletionPolicy }) => DeletionPolicy === 'Retain',
    );
    expect(kept).toEqual([]);
  });

  it('publishes the names that its users need', () => {
    const references = Object.entries(outputs ?? {})
      // The job's own output: test/infra/job-names.
      .filter(([name]) => !name.startsWith('JobNames'))
      .map(([name, { Value }]) => [name, Value]);
    expect(Object.fromEntries(references)).toEqual({
      StreamName: { Ref: 'JobSource9BA4C48F' },
      StateTable: { Ref: 'JobState0A30363F' },
      ControlTable: { Ref: 'JobControlEED9BF57' },
      DeadLetterTable: { Ref: 'JobDeadLetters365C97E6' },
      Bucket: { Ref: 'JobCheckpoints2E60B73F' },
      SinkAirports: { Ref: 'JobSinkairports7121F369' },
      SinkAlerts: { Ref: 'JobSinkalertsEC2629B5' },
      SinkHours: { Ref: 'JobSinkhours17C9671E' },
      SinkLate: { Ref: 'JobSinklateB75FE2D5' },
      OperatorFunction: { Ref: 'JobOperatorflightdelaysFunctionC155957C' },
      RegistrarFunction: { Ref: 'JobRegistrationRegistrarFunction9222F7A7' },
      CoordinatorFunction: { Ref: 'JobCoordinatorHandlerFunction607B3C35' },
      WorkflowFunction: { Ref: 'JobStepsHandlerFunction87C0B6CB' },
      SavepointWorkflow: { Ref: 'JobSavepointsMachineDD5DED8B' },
      RestoreWorkflow: { Ref: 'JobRestoresMachineD9F592B9' },
    });
  });
});

// Its engine takes a second or more to start.
describe('check of CloudFormation schemas that cdk synth makes', { timeout: 60_000 }, () => {
  it('finds nothing wrong with the demonstration stack', () => {
    const app = createCheckedApp('sound');
    createStack({}, app);
    expect(() => app.synth()).not.toThrow();
  });

  it('refuses a property that CloudFormation does not know', () => {
    const app = createCheckedApp('unsound');
    const stream = createStack({}, app).node.findChild('Job').node.findChild('Source');
    (stream.node.defaultChild as CfnStream).addPropertyOverride('Nonsense', true);
    expect(() => app.synth()).toThrow('Nonsense: Additional properties are not allowed');
  });
});
