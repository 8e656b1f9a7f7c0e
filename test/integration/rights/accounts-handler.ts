import { createOperatorHandler } from '../../../shared/composition/aws/operator-handler.ts';
import { accounts } from './accounts-operator.ts';

/** Small units, so that there are soon as many segments as are worth merging. */
export const handler = createOperatorHandler(accounts, { settings: { unitRecordsMax: 1 } });
