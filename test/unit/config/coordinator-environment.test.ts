import { describe, expect, it } from 'vitest';
import { CHECKPOINTING_DEFAULTS } from '../../../shared/config/checkpointing.ts';
import {
  readCoordinatorEnvironment,
  readOperatorFunctions,
  writeCoordinatorEnvironment,
  type CoordinatorEnvironment,
} from '../../../shared/config/coordinator-environment.ts';

const environment: CoordinatorEnvironment = {
  job: 'flights',
  controlTable: 'Control',
  bucket: 'bucket',
  streamArn: 'arn:aws:kinesis:eu-central-1:123456789012:stream/flights',
  operatorFunctions: new Map([['delays', 'DelaysFunction']]),
  checkpointing: { ...CHECKPOINTING_DEFAULTS, intervalSeconds: 10 },
  backup: { bucket: 'other-bucket', prefix: 'copies/' },
};

describe('environment of the coordinator', () => {
  it('is read as it was written', () => {
    expect(readCoordinatorEnvironment(writeCoordinatorEnvironment(environment))).toEqual(
      environment,
    );
    const without = { ...environment, backup: undefined };
    expect(readCoordinatorEnvironment(writeCoordinatorEnvironment(without))).toEqual(without);
  });

  it('is refused with everything that is missing', () => {
    expect(() => readCoordinatorEnvironment({})).toThrow(
      /^environment of the coordinator: 6 problems/,
    );
  });

  it.each([
    ['HOLDFAST_CHECKPOINTING', '{"intervalSeconds":1}'],
    ['HOLDFAST_CHECKPOINTING', '{"intervalSeconds":600,"timeoutSeconds":600}'],
    ['HOLDFAST_CHECKPOINTING', 'often'],
    ['HOLDFAST_OPERATOR_FUNCTIONS', '["delays"]'],
    ['HOLDFAST_BACKUP', ''],
    ['HOLDFAST_BACKUP', 's3://other-bucket'],
    ['HOLDFAST_BACKUP', 's3://other-bucket/copies'],
    ['HOLDFAST_BACKUP', 's3://Other/'],
  ])('is refused with %s=%s', (name, value) => {
    const variables = { ...writeCoordinatorEnvironment(environment), [name]: value };
    expect(() => readCoordinatorEnvironment(variables)).toThrow(`one problem\n  - ${name}: got`);
  });

  it('names functions by their names or ARNs', () => {
    const arn = 'arn:aws:lambda:eu-central-1:123456789012:function:delays';
    expect(readOperatorFunctions(JSON.stringify({ delays: arn }))).toEqual(
      new Map([['delays', arn]]),
    );
    expect(readOperatorFunctions(JSON.stringify({ delays: 'a b' }))).toBeUndefined();
    expect(readOperatorFunctions(JSON.stringify({ delays: 1 }))).toBeUndefined();
    expect(readOperatorFunctions(JSON.stringify({ Delays: 'a' }))).toBeUndefined();
  });
});
