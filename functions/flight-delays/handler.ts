import { createOperatorHandler } from '../../shared/composition/aws/operator-handler.ts';
import { flightDelays } from './operator.ts';

export const handler = createOperatorHandler(flightDelays);
