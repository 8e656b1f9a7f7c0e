import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineOperator } from '../../../shared/operator/operator.ts';
import { appendSink } from '../../../shared/operator/sink.ts';
import type { HintStore } from '../../../shared/ports/hint-store.ts';
import { createJob } from './job-fixture.ts';

/** One alarm for each user: set to a time, or taken away. */
const alarms = defineOperator({
  id: 'alarms',
  schema: z.object({ user: z.string(), at: z.number(), alarm: z.number().nullable() }),
  key: ({ user }) => user,
  eventTime: { time: ({ at }) => at, outOfOrdernessMs: 0 },
  state: {},
  sinks: { entries: appendSink({ row: z.object({ total: z.number() }) }) },
  process({ alarm }, { timers }) {
    if (alarm === null) timers.cancel('alarm');
    else timers.register({ name: 'alarm', time: alarm });
  },
  onTimer({ time }, { emit }) {
    emit({ sink: 'entries', row: { total: time } });
  },
});

/** Hints whose removal waits until it is woken. */
const sleepyHints = (hints: HintStore) => {
  let wake = (): void => undefined;
  const awake = new Promise<void>((resolve) => (wake = resolve));
  const sleepy: HintStore = {
    ...hints,
    remove: async (scope, some) => {
      await awake;
      await hints.remove(scope, some);
    },
  };
  return { sleepy, wake };
};

describe('a timer that was cancelled', () => {
  it('and is registered again for the same time fires, whoever is late with the first one (P12)', async () => {
    const job = await createJob({ operator: alarms });
    const put = (user: string, at: number, alarm: number | null): void => {
      job.putRaw(user, JSON.stringify({ user, at, alarm }));
    };
    const { sleepy, wake } = sleepyHints(job.hints);
    const environment = job.createEnvironment({ hints: sleepy });
    put('ann', 100, 150);
    await environment.deliver();
    put('ann', 101, null);
    const late = environment.deliver(job.records().slice(1));
    const last = job.records()[1]!.sequence;
    while (job.progress()?.position?.sequence !== last) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    put('ann', 102, 150);
    await job.createEnvironment().deliver(job.records().slice(2));
    wake();
    await late;
    // Nobody touches the key any more: the hint alone leads to it.
    put('dan', 200, null);
    await job.createEnvironment().deliver(job.records().slice(3));
    expect(job.entriesOf('ann')).toEqual([150]);
  });
});
