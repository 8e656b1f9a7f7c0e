import { createOperatorHandler } from '../../../shared/composition/aws/operator-handler.ts';
import { secondDelays } from './second-operator.ts';

export const handler = createOperatorHandler(secondDelays);
