import * as z from 'zod';
import type { Emission } from '../../../shared/core/emission.ts';
import { emptyStates, type LiveStates } from '../../../shared/operator/key-state.ts';
import { createOperatorInstance } from '../../../shared/operator/operator-instance.ts';
import {
  defineOperator,
  type Operator,
  type OperatorContext,
} from '../../../shared/operator/operator.ts';
import { appendSink, upsertSink } from '../../../shared/operator/sink.ts';
import { valueState } from '../../../shared/operator/state.ts';

const anyRow = z.object({ value: z.unknown() });

export const state = { total: valueState<number>() };

export const sinks = {
  rows: appendSink({ row: anyRow }),
  view: upsertSink({ row: anyRow }),
  'by-name': upsertSink({
    row: z.object({ name: z.string(), value: z.unknown() }),
    rowKey: (row) => row.name,
  }),
};

export type Context = OperatorContext<typeof state, typeof sinks>;

/** An operator with the three kinds of sink that does whatever a test says. */
export function operatorDoing(process: (ctx: Context, event: unknown) => unknown): Operator {
  return defineOperator({
    id: 'doer',
    schema: z.unknown(),
    key: () => 'k',
    state,
    sinks,
    // A callback that returns something is what some of the tests are about.
    process: (event, ctx) => process(ctx, event) as undefined,
  });
}

export interface Runner {
  /** Runs one event; positions count up from 1, all of one unit. */
  run(input?: Partial<{ key: string; sequence: string; sub: number; event: unknown }>): void;
  /** What all events of the unit have emitted. */
  readonly emissions: Emission[];
  readonly live: LiveStates;
}

/** Runs an operator's events into one list of emissions, as a unit does for a key. */
export function createRunner(process: (ctx: Context, event: unknown) => unknown): Runner {
  const operator = operatorDoing(process);
  const instance = createOperatorInstance(operator);
  const emissions: Emission[] = [];
  const live = emptyStates(operator);
  let events = 0;
  return {
    emissions,
    live,
    run({ key = 'k', sequence, sub = 0, event } = {}) {
      events += 1;
      const position = { sequence: sequence ?? String(events), sub };
      instance.processEvent({ key, position, arrivalMs: 1000 * events, event }, live, emissions);
    },
  };
}
