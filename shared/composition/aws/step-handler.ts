import * as z from 'zod';
import { STEP_ERROR_PREFIX, type WorkflowStep } from '../../config/workflow-steps.ts';
import { readWorkflowEnvironment } from '../../config/workflow-environment.ts';
import { HoldfastError } from '../../core/errors.ts';
import type { Deadline } from '../../runtime/deadline.ts';
import type { RestorePorts } from '../../runtime/restore/restore-order.ts';
import { hasOwnEndpoint } from './clients.ts';
import { requestSteps } from './request-steps.ts';
import { restoreSteps } from './restore-steps.ts';
import { savepointSteps } from './savepoint-steps.ts';
import { openWorkflowPorts } from './step-handler-ports.ts';
import type { Step } from './workflow-step.ts';

export const workflowSteps: Readonly<Record<WorkflowStep, Step>> = {
  ...savepointSteps,
  ...restoreSteps,
  ...requestSteps,
};

/** So long does one call of a step work, ms: whoever follows a workflow sees it move, and a death costs no more than this. */
const sliceMs = 4 * 60 * 1000;

interface InvocationContext {
  getRemainingTimeInMillis(): number;
}

/**
 * Makes the handler of the function that does the steps of savepoints, restores and drills, each named by the field `step` of its
 * input.
 *
 * @throws ConfigurationError where the environment is not what StreamJob writes
 */
export function createStepHandler(
  env: Readonly<Record<string, string | undefined>> = process.env,
): (event: unknown, context: InvocationContext) => Promise<unknown> {
  const ports = openWorkflowPorts(readWorkflowEnvironment(env), hasOwnEndpoint(env));
  return async (event, context) => {
    const endMs = ports.system.now() + sliceMs;
    const remainingMs = (): number =>
      Math.min(context.getRemainingTimeInMillis(), endMs - ports.system.now());
    return runStep(ports, event, { remainingMs });
  };
}

/**
 * Does one step.
 *
 * @throws StepError whose name says what has to be done about it
 */
export async function runStep(
  ports: RestorePorts,
  event: unknown,
  deadline: Deadline,
): Promise<unknown> {
  const { step: name, ...input } = (event ?? {}) as { readonly step?: unknown };
  try {
    const step = findStep(name);
    return await step.run(input, { ports, deadline });
  } catch (thrown) {
    throw nameError(thrown, String(name));
  }
}

function findStep(name: unknown): Step {
  const known: Readonly<Record<string, Step>> = workflowSteps;
  if (typeof name === 'string' && Object.hasOwn(known, name)) return known[name]!;
  throw new HoldfastError(
    'invalid',
    `there is no step ${JSON.stringify(name)}, expected one of ${Object.keys(known).join(', ')}; deploy workflows and function together`,
  );
}

/** An error as Step Functions sees it: Retry and Catch match by the name. */
class StepError extends Error {
  constructor(kind: string, message: string, cause: unknown) {
    super(message, { cause });
    this.name = STEP_ERROR_PREFIX + kind;
  }
}

function nameError(thrown: unknown, step: string): unknown {
  if (thrown instanceof HoldfastError) return new StepError(thrown.kind, thrown.message, thrown);
  // A bug is the same the next time; what adapters throw of the world outside is neither of these.
  if (thrown instanceof TypeError || thrown instanceof RangeError) {
    return new StepError('internal', `step ${step}: ${String(thrown.stack)}`, thrown);
  }
  if (!(thrown instanceof z.ZodError)) return thrown;
  const problems = z.prettifyError(thrown);
  return new StepError(
    'invalid',
    `step ${step} was sent or gives what it must not: ${problems}`,
    thrown,
  );
}
