import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../../shared/config/configuration-error.ts';
import {
  readWorkflowEnvironment,
  writeWorkflowEnvironment,
  type WorkflowEnvironment,
} from '../../../shared/config/workflow-environment.ts';

const environment: WorkflowEnvironment = {
  job: 'flights',
  streamArn: 'arn:aws:kinesis:eu-central-1:123456789012:stream/flights',
  stateTable: 'state',
  controlTable: 'control',
  deadLetterTable: 'dead-letters',
  bucket: 'checkpoints',
  operatorFunctions: new Map([['delays', 'arn:aws:lambda:eu-central-1:123456789012:function:d']]),
  sinks: [
    { operator: 'delays', name: 'airports', kind: 'upsert', table: 'sink-airports' },
    { operator: 'delays', name: 'alerts', kind: 'append', table: 'sink-alerts' },
  ],
  mappings: new Map([['delays', '6f1c0e5a-0000-4000-8000-000000000001']]),
  backup: { bucket: 'copies', prefix: '' },
};

describe('the environment of the workflow steps', () => {
  it('is read as it was written', () => {
    expect(readWorkflowEnvironment(writeWorkflowEnvironment(environment))).toEqual(environment);
  });

  it('says what a clone is one of', () => {
    const cloned = { job: 'first', controlTable: 'first-control', bucket: 'first-checkpoints' };
    const clone = { ...environment, cloned };
    expect(readWorkflowEnvironment(writeWorkflowEnvironment(clone))).toEqual(clone);
  });

  it.each(['{}', '["first","control"]', '["First","control","bucket"]', '["first","control",1]'])(
    'refuses %s as the job that is cloned',
    (text) => {
      const variables = { ...writeWorkflowEnvironment(environment), HOLDFAST_CLONED_JOB: text };
      expect(() => readWorkflowEnvironment(variables)).toThrow(/one problem.*HOLDFAST_CLONED_JOB/s);
    },
  );

  it('takes a job without sinks and backup', () => {
    const bare = { ...environment, sinks: [], backup: undefined };
    expect(readWorkflowEnvironment(writeWorkflowEnvironment(bare))).toEqual(bare);
  });

  it('names everything that is missing', () => {
    expect(() => readWorkflowEnvironment({})).toThrow(ConfigurationError);
    const needed = { ...environment, backup: undefined };
    for (const name of Object.keys(writeWorkflowEnvironment(needed))) {
      expect(() => readWorkflowEnvironment({})).toThrow(name);
    }
  });

  it.each([
    ['no JSON', '['],
    ['no list', '{}'],
    ['an entry that is too short', '[["delays","airports","upsert"]]'],
    ['a kind that there is not', '[["delays","airports","merge","table"]]'],
    ['a name that none can have', '[["delays","Air Ports","append","table"]]'],
    ['a table that none can be', '[["delays","airports","append","t"]]'],
  ])('refuses sinks that are %s', (_, text) => {
    const variables = { ...writeWorkflowEnvironment(environment), HOLDFAST_DEPLOYED_SINKS: text };
    expect(() => readWorkflowEnvironment(variables)).toThrow(
      /one problem.*HOLDFAST_DEPLOYED_SINKS/s,
    );
  });
});
