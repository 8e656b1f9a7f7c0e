import { describe, expect, it } from 'vitest';
import { readJobNames, writeJobNames } from '../../shared/config/job-names.ts';
import { createJob, readTemplate } from './synthesize-job.ts';

const names = {
  job: 'flights',
  streamArn: 'arn:aws:kinesis:us-east-1:000000000000:stream/flights',
  controlTable: 'control',
  deadLetterTable: 'dead-letters',
  bucket: 'bucket',
  operatorFunctions: new Map([['delays', 'function']]),
  workflowFunction: 'steps',
  savepointWorkflow: 'savepoints',
  restoreWorkflow: 'restores',
};

describe('the output that tells where a job is', () => {
  it('reads what it writes', () => {
    expect(readJobNames(JSON.stringify(writeJobNames(names)))).toEqual(names);
  });

  it.each(['', 'a-bucket', '{', '{"HOLDFAST_JOB":"flights"}', '[]', 'null'])(
    'takes no other output for it: %j',
    (value) => {
      expect(readJobNames(value)).toBeUndefined();
    },
  );

  it('is one for each job, with references to what the stack makes', () => {
    const { stack } = createJob();
    const outputs = Object.entries(readTemplate(stack).Outputs ?? {});
    expect(outputs).toHaveLength(1);
    const [[name, { Value }]] = outputs as [[string, { Value: unknown }]];
    expect(name).toMatch(/^JobNames/);
    const { 'Fn::Join': join } = Value as { 'Fn::Join': [string, unknown[]] };
    const text = join[1].map((part) => (typeof part === 'string' ? part : 'named-by-aws')).join('');
    expect(readJobNames(text)).toMatchObject({
      job: 'flights',
      operatorFunctions: new Map([['delays', 'named-by-aws']]),
      restoreWorkflow: 'named-by-aws',
    });
  });
});
