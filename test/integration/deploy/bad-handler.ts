import type { Flight } from '../../../cli/demo/flights.ts';
import { createOperatorHandler } from '../../../shared/composition/aws/operator-handler.ts';
import type { Operator } from '../../../shared/operator/operator.ts';
import { secondDelays } from '../rollback/second-operator.ts';

/** Tells wrong rows of most airports, and fails for one. */
const badDelays: Operator = {
  ...secondDelays,
  process(event, ctx) {
    if ((event as Flight).origin === 'ATL') throw new Error('no flights from ATL today');
    secondDelays.process(event, ctx);
  },
};

export const handler = createOperatorHandler(badDelays);
