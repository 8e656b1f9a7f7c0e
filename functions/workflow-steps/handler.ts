import { createStepHandler } from '../../shared/composition/aws/step-handler.ts';

// One function for all steps of both workflows: they are the same code with the same rights, and a step finds the environment
// warm that the step before it has left.
export const handler = createStepHandler();
