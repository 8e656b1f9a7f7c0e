import type { Flight } from '../../../cli/demo/flights.ts';
import { createOperatorHandler } from '../../../shared/composition/aws/operator-handler.ts';
import type { Operator } from '../../../shared/operator/operator.ts';
import { secondDelays } from '../rollback/second-operator.ts';

/** Fails for a third of the airports: those in every unit of some flights. */
function isRefused({ origin }: Pick<Flight, 'origin'>): boolean {
  return origin.charCodeAt(0) % 3 === 0;
}

/** Tells wrong rows of the others. */
const badDelays: Operator = {
  ...secondDelays,
  process(event, ctx) {
    if (isRefused(event as Flight)) throw new Error('not from there today');
    secondDelays.process(event, ctx);
  },
};

export const handler = createOperatorHandler(badDelays);
