import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import {
  DefinitionBody,
  type IChainable,
  StateMachine,
  StateMachineType,
} from 'aws-cdk-lib/aws-stepfunctions';
import { Stack, Validations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { WORKFLOW_PERMISSIONS } from './permissions.ts';
import { allow } from './policy-statements.ts';

export interface WorkflowProps {
  /** Does the steps. */
  readonly function: IFunction;
  readonly jobName: string;
}

/**
 * A state machine with a role that may invoke one function. Standard: what it does once it must not do twice at the same time
 * without need, and it may take a day. It has no timeout of its own, which nothing could catch: every step has one, and every
 * loop a bound.
 */
export function createWorkflow(
  scope: Construct,
  start: IChainable,
  { function: steps, jobName }: WorkflowProps,
  comment: string,
): StateMachine {
  const role = new Role(scope, 'Role', {
    assumedBy: new ServicePrincipal('states.amazonaws.com', {
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
  });
  const resources = { 'step-function': [steps.functionArn] };
  allow(role, WORKFLOW_PERMISSIONS, resources);
  const machine = new StateMachine(scope, 'Machine', {
    definitionBody: DefinitionBody.fromChainable(start),
    stateMachineType: StateMachineType.STANDARD,
    comment: `${comment} of job ${jobName}`,
    role,
  });
  Validations.of(machine).acknowledge(
    {
      id: 'AwsSolutions-SF1',
      reason:
        'Step Functions keeps the history of a standard workflow for 90 days, every input and output included; what a step does is in the log of its function',
    },
    {
      id: 'AwsSolutions-SF2',
      reason:
        'no traces: all steps are done by one function, and the history has the time that each took',
    },
  );
  return machine;
}
