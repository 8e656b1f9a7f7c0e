import type { LambdaFunction } from '../../../localstack/embedded/lambda/lambda-function.ts';

/** What happens before a step of a workflow begins; the step waits for it. */
export type BeforeStep = (step: string) => Promise<void>;

/**
 * Does something before each step that a workflow, or the command line, asks the function of the steps for.
 *
 * @returns ends it
 */
export function beforeSteps(steps: LambdaFunction, act: BeforeStep): () => void {
  const invoke = steps.invoke.bind(steps);
  steps.invoke = async (payload, options) => {
    const { step } = JSON.parse(payload) as { readonly step: string };
    await act(step);
    return invoke(payload, options);
  };
  return () => {
    steps.invoke = invoke;
  };
}
