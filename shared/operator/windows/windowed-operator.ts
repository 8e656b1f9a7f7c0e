import type { z } from 'zod';
import { watermarkBehind } from '../../core/watermark.ts';
import {
  defineOperator,
  type EventTime,
  type Operator,
  type OperatorContext,
  type OperatorDefinition,
} from '../operator.ts';
import type { SinkDescriptors } from '../sink.ts';
import type { Aggregation, AggregationResult } from './aggregation.ts';
import { heldWindows } from './held-window.ts';
import type { WindowScope } from './hold-window.ts';
import type { LateEvent, WindowResult } from './window-result.ts';
import type { WindowOptions } from './window-rules.ts';
import { createWindowing } from './windowing.ts';

/** What `onResult` and `onLate` see; state and timers belong to the windows. */
export type WindowContext<Sinks> = Omit<
  OperatorContext<unknown, Sinks>,
  'state' | 'timers' | 'watermark'
>;

/** What `defineWindowedOperator` takes. */
export interface WindowedOperatorDefinition<
  Schema extends z.ZodType,
  Computed extends Aggregation<z.output<Schema>>,
  Sinks extends SinkDescriptors,
>
  extends
    WindowOptions<z.output<Schema>, Computed>,
    Pick<
      OperatorDefinition<Schema, Record<never, never>, Sinks>,
      'id' | 'schema' | 'key' | 'sinks' | 'decode'
    > {
  readonly eventTime: EventTime<z.output<Schema>>;
  /**
   * Recognises the event that ends its key's stream: it goes into no window and closes all of the key's at once. To close
   * those of all keys put a heartbeat at `endOfStreamMs` into each shard.
   *
   * @default none does
   */
  readonly isEndOfStream?: (event: z.output<Schema>) => boolean;
  /** Called with each result: emit what the sinks should get. The same rules as for `process`. */
  onResult(result: WindowResult<AggregationResult<Computed>>, ctx: WindowContext<Sinks>): void;
  /**
   * Called with each event that came too late for a window. One row of an append sink for each keeps them all, and
   * counts them; do nothing where they do not matter.
   */
  onLate(late: LateEvent<z.output<Schema>>, ctx: WindowContext<Sinks>): void;
}

/**
 * Declares an operator that computes something of each key's windows.
 *
 * A window [start, end) fires when the watermark has reached `end`: no event that is within the allowed out-of-orderness can
 * be in it any more. Until `end` + lateness each further event gives a late update, and then the window is forgotten.
 *
 * @throws RangeError for options that cannot work
 */
export function defineWindowedOperator<
  Schema extends z.ZodType,
  Computed extends Aggregation<z.output<Schema>>,
  Sinks extends SinkDescriptors = Record<never, never>,
>(definition: WindowedOperatorDefinition<Schema, Computed, Sinks>): Operator {
  const { id, schema, key, sinks, decode, eventTime, isEndOfStream } = definition;
  const windowing = createWindowing(`operator ${id}`, definition);
  const state = { windows: heldWindows() };
  type Context = OperatorContext<typeof state, Sinks>;

  const scopeOf = (ctx: Context, watermark: number): WindowScope => {
    const {
      key: ofEvent,
      state: { windows },
      timers,
      watermark: firedWatermark,
    } = ctx;
    return { key: ofEvent, windows, timers, watermark, firedWatermark };
  };
  const reportTo = (ctx: Context) => (result: WindowResult<AggregationResult<Computed>>) => {
    definition.onResult(result, ctx);
  };
  return defineOperator({
    id,
    schema,
    key,
    state,
    eventTime,
    ...(sinks === undefined ? {} : { sinks }),
    ...(decode === undefined ? {} : { decode }),
    process(event, ctx: Context) {
      const time = Math.floor(eventTime.time(event));
      const said = watermarkBehind(time, eventTime);
      const scope = scopeOf(ctx, Math.max(ctx.watermark ?? said, said));
      if (isEndOfStream?.(event) === true) {
        windowing.flush(scope, reportTo(ctx));
        return;
      }
      const missed = windowing.add(event, time, scope, reportTo(ctx));
      if (missed.length === 0) return;
      definition.onLate({ event, time, watermark: scope.watermark, missed }, ctx);
    },
    onTimer(timer, ctx: Context) {
      // A timer of event time fires only behind a watermark.
      windowing.fire(timer, scopeOf(ctx, ctx.watermark ?? timer.time), reportTo(ctx));
    },
  });
}
