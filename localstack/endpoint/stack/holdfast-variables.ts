import type { Deployment } from './deploy-stack.ts';

/** Which output of the stack is which variable of `holdfast`. */
const variables = {
  HOLDFAST_CONTROL_TABLE: 'ControlTable',
  HOLDFAST_BUCKET: 'Bucket',
  HOLDFAST_WORKFLOW_FUNCTION: 'WorkflowFunction',
  HOLDFAST_SAVEPOINT_WORKFLOW: 'SavepointWorkflow',
  HOLDFAST_RESTORE_WORKFLOW: 'RestoreWorkflow',
} as const;

/** What saves `holdfast` its flags about a job that was deployed. */
export function holdfastVariables({ job, outputs }: Deployment): Record<string, string> {
  const named = Object.entries(variables).map(([name, output]) => [name, outputs[output] ?? '']);
  const functions = { 'flight-delays': outputs['OperatorFunction'] ?? '' };
  return {
    HOLDFAST_JOB: job,
    ...(Object.fromEntries(named) as Record<string, string>),
    HOLDFAST_OPERATOR_FUNCTIONS: JSON.stringify(functions),
  };
}
