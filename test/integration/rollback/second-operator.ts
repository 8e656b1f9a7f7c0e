import { flightDelays } from '../../../functions/flight-delays/operator.ts';
import type { Flight } from '../../../cli/demo/flights.ts';
import type { Operator, OperatorContext } from '../../../shared/operator/operator.ts';
import type { Logic } from './flight-history.ts';

/** Another version of the job's logic: half an hour more for each flight, and means in whole minutes. */
export const secondLogic: Logic = {
  delayOf: ({ delay }) => delay + 30,
  tellMean: Math.round,
};

/** The operator of the demonstration with that logic; its states and sinks are the same. */
export const secondDelays: Operator = {
  ...flightDelays,
  process(event, ctx) {
    const flight = event as Flight;
    flightDelays.process({ ...flight, delay: secondLogic.delayOf(flight) }, inWholeMinutes(ctx));
  },
  onTimer: (timer, ctx) => flightDelays.onTimer?.(timer, inWholeMinutes(ctx)),
};

type Context = OperatorContext<unknown, unknown>;

function inWholeMinutes(ctx: Context): Context {
  return {
    ...ctx,
    emit(output) {
      const { row, ...rest } = output as { readonly row?: { readonly meanDelay?: number } };
      const told =
        row?.meanDelay === undefined
          ? row
          : { ...row, meanDelay: secondLogic.tellMean(row.meanDelay) };
      ctx.emit({ ...rest, row: told } as never);
    },
  };
}
