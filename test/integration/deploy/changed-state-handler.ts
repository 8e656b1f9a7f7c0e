import { flightDelays } from '../../../functions/flight-delays/operator.ts';
import { createOperatorHandler } from '../../../shared/composition/aws/operator-handler.ts';
import type { Operator } from '../../../shared/operator/operator.ts';

const [first, ...others] = flightDelays.stateNames;

/** Calls its first state otherwise: what is stored under the old name would be lost. */
const changedDelays: Operator = { ...flightDelays, stateNames: [`new-${first}`, ...others] };

export const handler = createOperatorHandler(changedDelays);
