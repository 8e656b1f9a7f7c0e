import { describe, expect, it } from 'vitest';
import {
  growSpan,
  planAttempt,
  recordReturn,
  type AttemptHistory,
} from '../../../shared/core/suspicion.ts';

/*
 * The search for a record that kills its invocation, played with nothing but the decisions: a channel of so many
 * records, delivered again in a fresh environment after each death.
 */

interface Trial {
  readonly records: number;
  readonly spanMax: number;
  readonly attemptsMax: number;
  /** Records whose processing never comes back. */
  readonly killers: ReadonlySet<number>;
  /** Kills an attempt from outside, by its number since the start. */
  readonly isKilled?: (attempt: number) => boolean;
}

interface Verdicts {
  readonly condemned: readonly number[];
  readonly deaths: number;
  readonly attempts: number;
}

const deathsLimit = 10_000;

function search(trial: Trial): Verdicts {
  const { records, spanMax, attemptsMax, killers } = trial;
  const condemned: number[] = [];
  let stored: AttemptHistory | undefined;
  let done = 0;
  let deaths = 0;
  let attempts = 0;
  while (done < records && deaths < deathsLimit) {
    const id = `environment-${deaths}`;
    let isWarm = false;
    let span = spanMax;
    while (done < records) {
      const position = done === 0 ? undefined : { sequence: String(done), sub: 0 };
      const history = isWarm ? undefined : stored;
      const plan = planAttempt({ position, history, isWarm, span, spanMax, attemptsMax, id });
      if (plan.kind === 'condemn') {
        condemned.push(done);
        done += 1;
      } else {
        if (plan.announcement !== undefined) stored = plan.announcement;
        const end = Math.min(done + plan.span, records);
        const isDeadly = Array.from({ length: end - done }, (_, at) => done + at).some((record) =>
          killers.has(record),
        );
        const isKilled = trial.isKilled?.(attempts) ?? false;
        attempts += 1;
        if (isDeadly || isKilled) {
          deaths += 1;
          break;
        }
        // It came back: alone it says so at once, else moving on says it.
        if (plan.span === 1 && stored !== undefined) stored = recordReturn(stored, id) ?? stored;
        done = end;
        span = plan.span;
      }
      isWarm = true;
      span = growSpan(span, spanMax);
    }
  }
  return { condemned, deaths, attempts };
}

const settings = { spanMax: 1000, attemptsMax: 3 };

describe('the search for a record that kills its invocation', () => {
  it('condemns the killer and nobody else, wherever it stands', () => {
    for (let killer = 0; killer < 1000; killer += 1) {
      const { condemned } = search({ ...settings, records: 1000, killers: new Set([killer]) });
      expect(condemned, `killer ${killer}`).toEqual([killer]);
    }
  });

  it('takes no more than fourteen deaths for one among a thousand', () => {
    let most = 0;
    for (let killer = 0; killer < 1000; killer += 1) {
      const { deaths } = search({ ...settings, records: 1000, killers: new Set([killer]) });
      expect(deaths).toBeGreaterThanOrEqual(settings.attemptsMax);
      most = Math.max(most, deaths);
    }
    expect(most).toBeLessThanOrEqual(14);
  });

  it('takes one death more than are allowed where the first attempt was made unannounced', () => {
    const trial = { records: 5, spanMax: 1, attemptsMax: 3 };
    expect(search({ ...trial, killers: new Set([0]) })).toMatchObject({ deaths: 3 });
    expect(search({ ...trial, killers: new Set([2]) })).toMatchObject({ deaths: 4 });
  });

  it('condemns several killers one by one, neighbours too', () => {
    const killers = new Set([0, 10, 11, 500, 999]);
    const { condemned, deaths } = search({ ...settings, records: 1000, killers });
    expect(condemned).toEqual([...killers]);
    expect(deaths).toBeLessThanOrEqual(14 * killers.size);
  });

  it('condemns nobody where a delivery goes through at once', () => {
    expect(search({ ...settings, records: 2500, killers: new Set() })).toEqual({
      condemned: [],
      deaths: 0,
      attempts: 3,
    });
  });
});

describe('deaths that no record is to blame for', () => {
  it('condemn nobody while they are fewer than it takes, whenever they happen', () => {
    const trial = { records: 12, spanMax: 4, attemptsMax: 3, killers: new Set<number>() };
    let runs = 0;
    for (let first = 0; first < 16; first += 1) {
      for (let second = first; second < 24; second += 1) {
        const isKilled = (attempt: number): boolean => attempt === first || attempt === second;
        expect(search({ ...trial, isKilled }).condemned, `${first}, ${second}`).toEqual([]);
        runs += 1;
      }
    }
    expect(runs).toBeGreaterThan(200);
  });

  it('condemn nobody however many they are, while no record is tried alone that often in a row', () => {
    const trial = { records: 40, spanMax: 1, attemptsMax: 3, killers: new Set<number>() };
    const { condemned, deaths } = search({ ...trial, isKilled: (attempt) => attempt % 3 !== 2 });
    expect(deaths).toBeGreaterThan(60);
    expect(condemned).toEqual([]);
  });

  it('do condemn the record at which they keep happening', () => {
    const trial = { records: 4, spanMax: 1, attemptsMax: 3, killers: new Set<number>() };
    const { condemned } = search({ ...trial, isKilled: (attempt) => attempt >= 1 && attempt <= 4 });
    expect(condemned).toEqual([1]);
  });
});
