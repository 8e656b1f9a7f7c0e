import { describe, expect, it } from 'vitest';
import {
  growSpan,
  planAttempt,
  recordReturn,
  recordThrow,
  type AttemptFacts,
  type AttemptHistory,
} from '../../../shared/core/suspicion.ts';

const here = { sequence: '50', sub: 0 };
const before = { sequence: '49', sub: 0 };

const facts = (overrides: Partial<AttemptFacts> = {}): AttemptFacts => ({
  position: here,
  history: undefined,
  isWarm: false,
  span: 1000,
  spanMax: 1000,
  attemptsMax: 3,
  id: 'mine',
  ...overrides,
});

const history = (overrides: Partial<AttemptHistory> = {}): AttemptHistory => ({
  position: here,
  span: 1000,
  outstanding: [],
  throws: 0,
  reason: undefined,
  ...overrides,
});

describe('planAttempt where nothing is suspected', () => {
  it('runs a full unit unannounced in an environment that knows the channel', () => {
    expect(planAttempt(facts({ isWarm: true }))).toEqual({
      kind: 'run',
      span: 1000,
      announcement: undefined,
    });
  });

  it('announces a full unit in an environment that does not', () => {
    const announcement = history({ outstanding: ['mine'] });
    expect(planAttempt(facts())).toEqual({ kind: 'run', span: 1000, announcement });
  });

  it('announces while units grow back to their normal size', () => {
    const announcement = history({ span: 250, outstanding: ['mine'] });
    expect(planAttempt(facts({ isWarm: true, span: 250 }))).toEqual({
      kind: 'run',
      span: 250,
      announcement,
    });
  });

  it('announces the start of a channel', () => {
    expect(planAttempt(facts({ position: undefined }))).toMatchObject({
      announcement: { position: undefined, outstanding: ['mine'] },
    });
  });

  it.each<[string, Partial<AttemptFacts>]>([
    ['another position', { history: history({ position: before, span: 1, throws: 9 }) }],
    ['the start', { history: history({ position: undefined, span: 1, throws: 9 }) }],
    ['a position, at the start', { history: history({ span: 1, throws: 9 }), position: undefined }],
  ])('ignores what is known of %s', (_, overrides) => {
    expect(planAttempt(facts(overrides))).toMatchObject({
      kind: 'run',
      span: 1000,
      announcement: { throws: 0, outstanding: ['mine'] },
    });
  });
});

describe('planAttempt after a death among several records', () => {
  it.each([
    [1000, 125],
    [125, 16],
    [16, 2],
    [9, 2],
    [8, 1],
    [2, 1],
  ])('shrinks a span of %i to %i', (span, shrunk) => {
    const plan = planAttempt(facts({ history: history({ span, outstanding: ['dead'] }) }));
    expect(plan).toEqual({
      kind: 'run',
      span: shrunk,
      announcement: history({ span: shrunk, outstanding: ['mine'] }),
    });
  });

  it('keeps the span where every attempt came back', () => {
    const plan = planAttempt(facts({ history: history({ span: 125 }) }));
    expect(plan).toMatchObject({ kind: 'run', span: 125 });
  });

  it('never takes more records than a unit may have', () => {
    const plan = planAttempt(facts({ span: 10, history: history({ span: 1000 }) }));
    expect(plan).toMatchObject({ kind: 'run', span: 10 });
  });

  it('condemns nothing, however often attempts at many records died', () => {
    const outstanding = ['a', 'b', 'c', 'd'];
    expect(planAttempt(facts({ history: history({ span: 2, outstanding }) })).kind).toBe('run');
  });
});

describe('planAttempt at a record alone', () => {
  const alone = (overrides: Partial<AttemptHistory>): AttemptHistory =>
    history({ span: 1, ...overrides });

  it('adds its announcement to those that have not come back', () => {
    const plan = planAttempt(facts({ history: alone({ outstanding: ['a', 'b'] }) }));
    expect(plan).toMatchObject({
      kind: 'run',
      span: 1,
      announcement: { outstanding: ['a', 'b', 'mine'] },
    });
  });

  it('condemns it for as many deaths as are allowed', () => {
    const plan = planAttempt(facts({ history: alone({ outstanding: ['a', 'b', 'c'] }) }));
    expect(plan).toEqual({
      kind: 'condemn',
      reason:
        'the invocation did not come back: it ran out of time or memory, or its process was killed',
    });
  });

  it('condemns it for as many throws, with what it threw', () => {
    const plan = planAttempt(facts({ history: alone({ throws: 3, reason: 'no such airport' }) }));
    expect(plan).toEqual({ kind: 'condemn', reason: 'no such airport' });
  });

  it('does not add deaths and throws up', () => {
    const mixed = alone({ outstanding: ['a', 'b'], throws: 2, reason: 'flaky' });
    expect(planAttempt(facts({ history: mixed })).kind).toBe('run');
  });
});

describe('planAttempt over all histories', () => {
  const spans = [1, 2, 7, 8, 9, 64, 1000];
  const counts = [0, 1, 2, 3, 4];

  it('announces itself within bounds, or condemns a record that was tried alone often enough', () => {
    let plans = 0;
    for (const span of spans)
      for (const unitSpan of spans)
        for (const deaths of counts)
          for (const throws of counts)
            for (const isWarm of [true, false]) {
              const outstanding = Array.from({ length: deaths }, (_, at) => `dead-${at}`);
              const known = history({ span, outstanding, throws, reason: 'thrown' });
              const plan = planAttempt(facts({ history: known, span: unitSpan, isWarm }));
              plans += 1;
              const isGuilty = span === 1 && (deaths >= 3 || throws >= 3);
              expect(plan.kind).toBe(isGuilty ? 'condemn' : 'run');
              if (plan.kind !== 'run') continue;
              expect(plan.span).toBeGreaterThanOrEqual(1);
              expect(plan.span).toBeLessThanOrEqual(Math.min(span, unitSpan));
              expect(plan.announcement?.outstanding).toContain('mine');
              expect(plan.announcement?.span).toBe(plan.span);
              expect(plan.announcement?.position).toEqual(here);
            }
    expect(plans).toBe(7 * 7 * 5 * 5 * 2);
  });
});

describe('recordThrow', () => {
  it('begins to count at one, alone, whatever was tried before', () => {
    const several = history({ span: 8, outstanding: ['mine', 'a'], throws: 0 });
    for (const known of [undefined, several, history({ position: before, span: 1, throws: 2 })]) {
      expect(recordThrow(known, here, 'mine', 'bad')).toEqual(
        history({ span: 1, throws: 1, reason: 'bad' }),
      );
    }
  });

  it('counts on at the same record, keeps the last reason and takes its own announcement away', () => {
    const known = history({ span: 1, outstanding: ['a', 'mine'], throws: 1, reason: 'first' });
    expect(recordThrow(known, here, 'mine', 'second')).toEqual(
      history({ span: 1, outstanding: ['a'], throws: 2, reason: 'second' }),
    );
  });

  it('works at the start of a channel', () => {
    const first = recordThrow(undefined, undefined, 'mine', 'bad');
    expect(recordThrow(first, undefined, 'mine', 'bad').throws).toBe(2);
  });
});

describe('recordReturn', () => {
  it('takes an announcement away and leaves the others', () => {
    const known = history({ span: 1, outstanding: ['a', 'mine', 'b'], throws: 1 });
    expect(recordReturn(known, 'mine')).toEqual(
      history({ span: 1, outstanding: ['a', 'b'], throws: 1 }),
    );
  });

  it('has nothing to write where the announcement is not there any more', () => {
    expect(recordReturn(history({ outstanding: ['a'] }), 'mine')).toBeUndefined();
  });
});

describe('growSpan', () => {
  it('doubles up to the normal span', () => {
    expect([1, 2, 400, 600, 1000].map((span) => growSpan(span, 1000))).toEqual([
      2, 4, 800, 1000, 1000,
    ]);
  });
});
