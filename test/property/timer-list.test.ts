import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compareTimers, timerStepName, type Timer } from '../../shared/core/timer.ts';
import { addTimer, removeTimer } from '../../shared/operator/timer-list.ts';

type Step =
  | { readonly kind: 'register' | 'cancel'; readonly timer: Timer }
  /** The first of them fires, and whoever fires it takes it out himself. */
  | { readonly kind: 'fire' };

const timer: fc.Arbitrary<Timer> = fc.record({
  domain: fc.constantFrom('event', 'arrival'),
  time: fc.integer({ min: -20, max: 20 }),
  name: fc.integer({ min: 0, max: 150 }).map((n) => `t${n}`),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('register' as const), timer }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cancel' as const), timer }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fire' as const) }) },
);

/** The list before, without the index: looks at each. */
function apply(timers: readonly Timer[], change: Step): Timer[] {
  if (change.kind === 'fire') return timers.slice(1);
  const rest = timers.filter((one) => timerStepName(one) !== timerStepName(change.timer));
  return change.kind === 'cancel' ? rest : [...rest, change.timer].sort(compareTimers);
}

it('keeps the timers of a key as sorting all of them each time does, however many there are', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 150, maxLength: 400, size: 'max' }), (steps) => {
      const timers: Timer[] = [];
      let expected: Timer[] = [];
      for (const change of steps) {
        expected = apply(expected, change);
        if (change.kind === 'fire') {
          timers.shift();
        } else {
          removeTimer(timers, change.timer.name, change.timer.domain);
          if (change.kind === 'register') addTimer(timers, change.timer);
        }
        // Not `toEqual` each time, which would take most of the time.
        if (timers.some((one, at) => one !== expected[at])) expect(timers).toEqual(expected);
        expect(timers).toHaveLength(expected.length);
      }
    }),
    // Shrinking so many steps takes minutes; the seed brings the failure back.
    { numRuns: 40, endOnFailure: true },
  );
});
