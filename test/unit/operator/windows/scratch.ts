import * as z from 'zod';
import { count, mean, max } from '../../../../shared/operator/aggregator.ts';
import { topN } from '../../../../shared/operator/top-n.ts';
import { appendSink } from '../../../../shared/operator/sink.ts';
import { tumbling } from '../../../../shared/operator/windows/window-assigner.ts';
import { defineWindowedOperator } from '../../../../shared/operator/windows/windowed-operator.ts';

export const a = defineWindowedOperator({
  id: 'x', window: tumbling(10), schema: z.object({ ts: z.number(), k: z.string() }),
  key: (e) => e.k,
  eventTime: { time: (e) => e.ts, outOfOrdernessMs: 1 },
  aggregate: (over) => ({ n: count(), m: over((e) => e.ts, mean()), x: over((e) => e.ts, max()), t: over((e) => e.k, topN(3, (k: string) => k.length)), u: over((e) => e.ts, topN(3)) }),
  sinks: { out: appendSink({row: z.object({ n: z.number() })}) },
  onResult({ result }, ctx) { const n: number = result.n; const m: number = result.m; const t: readonly string[] = result.t;const u: readonly number[] = result.u; void [n, m, t, u];
   ctx.emit({ sink: 'out', row: { n } });
   },
  onLate() {},
});
export const b = defineWindowedOperator({
  id: 'x', window: tumbling(10), schema: z.object({ ts: z.number(), k: z.string() }),
  key: (e) => e.k,
  eventTime: { time: (e) => e.ts, outOfOrdernessMs: 1 },
  aggregate: (over) => over((e) => e.ts, mean()),
  onResult({ result }) { const n: number = result; void n; },
  onLate({event}) { const k: string = event.k; void k; },
});
export const c = defineWindowedOperator({
  id: 'x', window: tumbling(10), schema: z.object({ ts: z.number(), k: z.string() }),
  key: (e) => e.k,
  eventTime: { time: (e) => e.ts, outOfOrdernessMs: 1 },
  aggregate: () => count(),
  onResult({ result }) { const n: number = result; void n; },
  onLate() {},
});
