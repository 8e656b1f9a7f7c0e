import { createOperatorHandler } from '../../../shared/composition/aws/operator-handler.ts';
import { moody } from './moody-operator.ts';

/** Small bounds, so that a test need not wait long until a record is found, nor send much. */
export const handler = createOperatorHandler(moody, {
  settings: {
    attemptsMax: 2,
    unitRecordsMax: 8,
    deadlineReserveMs: 1_000,
    recordBytesMax: 100 * 1024,
  },
});
