import { createOperatorHandler } from '../../../../shared/composition/aws/operator-handler.ts';
import { counting } from './counting-operator.ts';

export const handler = createOperatorHandler(counting);
