import { describe, expect, it } from 'vitest';
import { STEP_PERMISSIONS } from '../../infra/permissions.ts';
import { createJob, listResources, listResourcesOfType, operatorProps } from './synthesize-job.ts';

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
}

const resources = listResources(
  createJob({ operators: [operatorProps({ sinks: { airports: 'upsert' } })] }).stack,
);

const statementsOf = (prefix: string, of = resources): Statement[] =>
  listResourcesOfType(of, 'AWS::IAM::Policy')
    .filter(({ logicalId }) => logicalId.startsWith(prefix))
    .flatMap(
      ({ Properties }) => (Properties['PolicyDocument'] as { Statement: Statement[] }).Statement,
    );

describe('the rights of workflows', () => {
  it.each(['JobSavepoints', 'JobRestores'])('of %s are to invoke one function', (machine) => {
    const [steps] = listResourcesOfType(resources, 'AWS::Lambda::Function').filter(
      ({ logicalId }) => logicalId.startsWith('JobSteps'),
    );
    expect(statementsOf(machine)).toEqual([
      {
        Effect: 'Allow',
        Action: 'lambda:InvokeFunction',
        Resource: { 'Fn::GetAtt': [steps!.logicalId, 'Arn'] },
      },
    ]);
  });

  it('of the function that does the steps are those that it uses, for what the job has', () => {
    const granted = statementsOf('JobStepsHandler').flatMap(({ Action }) => Action);
    const listed = STEP_PERMISSIONS.filter(
      ({ on }) =>
        !['stream-key', 'storage-key', 'backup', 'backup-objects'].includes(on) &&
        !on.startsWith('cloned-'),
    ).flatMap(({ actions }) => actions);
    expect(granted.toSorted()).toEqual(listed.toSorted());
    expect(JSON.stringify(statementsOf('JobStepsHandler'))).not.toMatch(/"Resource":"\*"|:\*"/);
  });
});
