import { createOperatorHandler } from '../../../shared/composition/aws/operator-handler.ts';
import { reminders } from './accounts-operator.ts';

export const handler = createOperatorHandler(reminders, { settings: { unitRecordsMax: 1 } });
