import { createOperatorHandler } from '../../../../shared/composition/aws/operator-handler.ts';
import { careless } from './careless-operator.ts';

export const handler = createOperatorHandler(careless, { settings: { attemptsMax: 2 } });
