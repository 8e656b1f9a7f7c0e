import { createJob, listResources, listResourcesOfType } from './synthesize-job.ts';

/** A state as the template spells it. */
export interface StateText {
  readonly Type: string;
  readonly Parameters?: Readonly<Record<string, unknown>>;
  readonly Retry?: readonly {
    readonly ErrorEquals: readonly string[];
    readonly MaxAttempts: number;
  }[];
  readonly Catch?: readonly { readonly ErrorEquals: readonly string[]; readonly Next: string }[];
  readonly TimeoutSeconds?: number;
  readonly ItemProcessor?: { readonly States: Readonly<Record<string, StateText>> };
  readonly MaxConcurrency?: number;
  readonly CausePath?: string;
  readonly Cause?: string;
}

export interface Definition {
  readonly StartAt: string;
  readonly States: Readonly<Record<string, StateText>>;
}

/** The ARN that stands for the function of the steps. */
export const stepFunctionArn = 'arn:aws:lambda:us-east-1:000000000000:function:steps';

/** The definitions of a job's workflows, as they are deployed. */
export function readWorkflows(): { readonly savepoint: Definition; readonly restore: Definition } {
  const machines = listResourcesOfType(
    listResources(createJob().stack),
    'AWS::StepFunctions::StateMachine',
  );
  const read = (prefix: string): Definition => {
    const { Properties } = machines.find(({ logicalId }) => logicalId.startsWith(prefix))!;
    return JSON.parse(join(Properties['DefinitionString'])) as Definition;
  };
  return { savepoint: read('JobSavepoints'), restore: read('JobRestores') };
}

function join(value: unknown): string {
  if (typeof value === 'string') return value;
  const { 'Fn::Join': parts } = value as { 'Fn::Join'?: [string, unknown[]] };
  return parts === undefined ? stepFunctionArn : parts[1].map(join).join(parts[0]);
}
