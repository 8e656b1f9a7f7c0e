import { describe, expect, it } from 'vitest';

import { readMappingSettings } from '../../../../localstack/embedded/event-source/mapping-settings.ts';
import { readFunctionSettings } from '../../../../localstack/embedded/lambda/function-settings.ts';
import {
  findResourceKind,
  knownResourceTypes,
} from '../../../../localstack/embedded/resources/resource-kinds.ts';
import { physicalName, uuidOf } from '../../../../localstack/embedded/template/physical-name.ts';
import { PropertyReader } from '../../../../localstack/embedded/template/property-reader.ts';
import {
  findUnknownProperties,
  inert,
  nested,
  used,
  type PropertyTable,
} from '../../../../localstack/embedded/template/property-table.ts';
import type { TemplateObject } from '../../../../localstack/embedded/template/template-value.ts';

const resource = { type: 'AWS::Some::Thing', logicalId: 'Mine' };

describe('a property table', () => {
  const table: PropertyTable = {
    Name: used,
    Tags: inert('nothing reads them'),
    Rules: nested({ Id: used, Target: nested({ Arn: used }) }),
  };

  it('lets known properties pass, at every depth', () => {
    const properties = { Name: 'a', Tags: [{ Any: 1 }], Rules: [{ Id: 1, Target: { Arn: 'x' } }] };
    expect(findUnknownProperties(resource, properties, table)).toEqual([]);
  });

  it('names type, logical id and path of every unknown one', () => {
    const properties = { Nam: 'a', Rules: [{ Id: 1 }, { Target: { Role: 'x' } }] };
    expect(findUnknownProperties(resource, properties, table)).toEqual([
      'AWS::Some::Thing Mine: property "Nam" is not supported locally (known here: Name, Tags, Rules); remove it or teach it to the local AWS',
      'AWS::Some::Thing Mine: property "Rules[1].Target.Role" is not supported locally (known here: Arn); remove it or teach it to the local AWS',
    ]);
  });

  it('does not look into an intrinsic function', () => {
    const properties = { Rules: { 'Fn::If': ['C', { Unknown: 1 }, []] } };
    expect(findUnknownProperties(resource, properties, table)).toEqual([]);
  });

  it('is not fooled by names that every object has', () => {
    expect(findUnknownProperties(resource, { constructor: 'x' }, table)).toHaveLength(1);
  });
});

describe('the known resource types', () => {
  it('include all that a stack of this project may have', () => {
    expect(knownResourceTypes()).toEqual([
      'AWS::CDK::Metadata',
      'AWS::CloudFormation::CustomResource',
      'AWS::DynamoDB::Table',
      'AWS::EC2::SecurityGroup',
      'AWS::IAM::ManagedPolicy',
      'AWS::IAM::Policy',
      'AWS::IAM::Role',
      'AWS::KMS::Key',
      'AWS::Kinesis::Stream',
      'AWS::Lambda::EventSourceMapping',
      'AWS::Lambda::Function',
      'AWS::Logs::LogGroup',
      'AWS::S3::Bucket',
      'AWS::S3::BucketPolicy',
      'AWS::Scheduler::Schedule',
      'AWS::Scheduler::ScheduleGroup',
      'AWS::StepFunctions::StateMachine',
      'Custom::*',
    ]);
  });

  it('give a reason for every property without effect', () => {
    const reasons: string[] = [];
    const collect = (table: PropertyTable): void => {
      for (const rule of Object.values(table)) {
        if (rule.kind === 'inert') reasons.push(rule.because);
        if (rule.kind === 'nested') collect(rule.properties);
      }
    };
    for (const type of knownResourceTypes()) {
      const properties = findResourceKind(type)?.properties;
      if (properties !== undefined && properties !== 'any') collect(properties);
    }
    expect(reasons.length).toBeGreaterThan(30);
    expect(reasons.filter((reason) => reason.length < 10)).toEqual([]);
  });
});

describe('a property reader', () => {
  const reader = new PropertyReader('T Mine', { Size: '12', On: 'true', Name: 5, List: ['a', 1] });

  it('takes numbers and booleans that are written as text', () => {
    expect(reader.integer('Size', { min: 1, max: 20 })).toBe(12);
    expect(reader.boolean('On', false)).toBe(true);
    expect(reader.integerOr('Other', { min: 1, max: 20 }, 7)).toBe(7);
  });

  it('refuses with place, property, value and rule', () => {
    expect(() => reader.integer('Size', { min: 1, max: 10 })).toThrow(
      'T Mine: property "Size" is "12", expected 1 to 10; change it',
    );
    expect(() => reader.text('Name')).toThrow('property "Name" is 5, expected a text');
    expect(() => reader.text('Missing')).toThrow(
      'property "Missing" is missing, expected text; add it',
    );
    expect(() => reader.texts('List')).toThrow(
      'property "List" is ["a",1], expected a list of texts',
    );
    expect(() => reader.boolean('Size', true)).toThrow('expected true or false');
    expect(() => reader.object('Name')).toThrow('expected an object');
  });
});

describe('physical names', () => {
  const place = { stackName: 'Orders', region: 'r', accountId: 'a', stackId: 's' };

  it('show stack and logical id, and are the same at every start', () => {
    const name = physicalName(place, 'StateTable', { lengthMax: 255 });
    expect(name).toMatch(/^Orders-StateTable-[0-9a-f]{8}$/);
    expect(physicalName(place, 'StateTable', { lengthMax: 255 })).toBe(name);
  });

  it('keep the limits of their service', () => {
    const name = physicalName(place, 'X'.repeat(100), { lengthMax: 63, isLowerCase: true });
    expect(name).toMatch(/^orders-x+-[0-9a-f]{8}$/);
    expect(name).toHaveLength(63);
  });

  it('come as UUIDs, too', () => {
    expect(uuidOf('a')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
  });
});

describe('mapping settings', () => {
  const read = (properties: TemplateObject): ReturnType<typeof readMappingSettings> =>
    readMappingSettings(
      new PropertyReader('M Mine', { StartingPosition: 'TRIM_HORIZON', ...properties }),
    );

  it('have the defaults of Lambda', () => {
    expect(read({})).toEqual({
      batchSize: 100,
      windowMs: 0,
      startingPosition: { kind: 'trim-horizon' },
      reportsItemFailures: false,
      retriesMax: Infinity,
      recordAgeMsMax: Infinity,
      bisectsOnError: false,
      failureBucket: undefined,
      isEnabled: true,
    });
  });

  it('take what the template says', () => {
    expect(
      read({
        BatchSize: 10,
        MaximumBatchingWindowInSeconds: '2',
        StartingPosition: 'AT_TIMESTAMP',
        StartingPositionTimestamp: 100,
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        MaximumRetryAttempts: 3,
        MaximumRecordAgeInSeconds: 60,
        BisectBatchOnFunctionError: true,
        DestinationConfig: { OnFailure: { Destination: 'arn:aws:s3:::letters' } },
        ParallelizationFactor: 1,
        Enabled: false,
      }),
    ).toEqual({
      batchSize: 10,
      windowMs: 2_000,
      startingPosition: { kind: 'timestamp', timestampMs: 100_000 },
      reportsItemFailures: true,
      retriesMax: 3,
      recordAgeMsMax: 60_000,
      bisectsOnError: true,
      failureBucket: 'letters',
      isEnabled: false,
    });
  });

  it.each<[TemplateObject, string]>([
    [
      { ParallelizationFactor: 2 },
      '"ParallelizationFactor" is 2, expected 1; two batches of one shard',
    ],
    [{ TumblingWindowInSeconds: 5 }, '"TumblingWindowInSeconds" is 5, expected 0'],
    [{ StartingPosition: 'AT_SEQUENCE_NUMBER' }, 'expected TRIM_HORIZON, LATEST or AT_TIMESTAMP'],
    [{ MaximumRecordAgeInSeconds: 30 }, 'expected -1 or 60 to 604800'],
    [{ BatchSize: 10_001 }, '"BatchSize" is 10001, expected 1 to 10000'],
    [{ FunctionResponseTypes: ['Other'] }, 'expected ["ReportBatchItemFailures"]'],
    [
      { DestinationConfig: { OnFailure: { Destination: 'arn:aws:sqs:us-east-1:1:q' } } },
      '"DestinationConfig.OnFailure.Destination" is "arn:aws:sqs:us-east-1:1:q", expected the ARN of a bucket',
    ],
  ])('refuse %j', (properties, message) => {
    expect(() => read(properties)).toThrow(message);
  });
});

describe('function settings', () => {
  const read = (properties: TemplateObject): ReturnType<typeof readFunctionSettings> =>
    readFunctionSettings(
      new PropertyReader('F Mine', {
        Runtime: 'nodejs24.x',
        Handler: 'index.handler',
        Role: 'arn:role',
        ...properties,
      }),
      { functionName: 'f', functionArn: 'arn:f', codeDirectory: '/bundle' },
    );

  it('have the defaults of Lambda', () => {
    expect(read({})).toMatchObject({ memoryMb: 128, timeoutMs: 3_000, variables: {} });
  });

  it('turn numbers and booleans in variables into text', () => {
    expect(read({ Environment: { Variables: { A: 1, B: true } } }).variables).toEqual({
      A: '1',
      B: 'true',
    });
  });

  it.each<[TemplateObject, string]>([
    [{ Runtime: 'python3.14' }, 'expected nodejs…; other runtimes are not run locally'],
    [{ Handler: 'handler' }, 'expected <file>.<export>'],
    [{ PackageType: 'Image' }, '"PackageType" is "Image", expected Zip'],
    [{ Timeout: 901 }, 'expected 1 to 900'],
    [
      { Environment: { Variables: { AWS_REGION: 'x' } } },
      '"Environment.Variables.AWS_REGION" is "x", expected a name that Lambda does not reserve; rename the variable',
    ],
    [
      { Environment: { Variables: { AWS_ENDPOINT_URL_S3: 'x' } } },
      'expected a name that Lambda does not reserve',
    ],
  ])('refuse %j', (properties, message) => {
    expect(() => read(properties)).toThrow(message);
  });
});
