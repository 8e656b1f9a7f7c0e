import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  chooseRetired,
  coordinate,
  findObstacle,
  type CheckpointSettings,
  type CoordinationAction,
  type CoordinationFacts,
} from '../../shared/core/coordination.ts';
import type { ManifestReference, PendingWork, Registry } from '../../shared/core/registry.ts';

/** Small numbers, so that times meet; and moments that no clock shows. */
const moment = fc.oneof(
  { weight: 8, arbitrary: fc.nat({ max: 400_000 }) },
  { weight: 1, arbitrary: fc.constantFrom(0, -1, Number.MAX_SAFE_INTEGER) },
);
const generation = fc.integer({ min: 1, max: 3 });
/** Numbers are given once (C4), and name objects. */
const number = fc.nat({ max: 5 });
const objectOf = (count: number): string => `manifest-${count}`;

const settings: fc.Arbitrary<CheckpointSettings> = fc.record({
  intervalMs: fc.constantFrom(10_000, 60_000, 600_000),
  timeoutMs: fc.constantFrom(180_000, 600_000),
  minPauseMs: fc.constantFrom(0, 5_000, 30_000),
  maxConcurrent: fc.constant(1),
  tolerableFailures: fc.nat({ max: 3 }),
  retained: fc.integer({ min: 1, max: 4 }),
});

const work: fc.Arbitrary<PendingWork> = fc.record({
  id: fc.constantFrom('w1', 'w2', 'w3', 'w4'),
  kind: fc.constantFrom('checkpoint', 'savepoint', 'undo', 'compaction'),
  number: fc.nat({ max: 9 }),
  generation,
  label: fc.constantFrom('', 'restore:r1'),
  sinceMs: moment,
  expiresAtMs: moment,
});

const reference: fc.Arbitrary<ManifestReference> = fc
  .record({
    kind: fc.constantFrom('checkpoint' as const, 'savepoint' as const, 'undo' as const),
    generation,
    number,
    label: fc.constant(''),
    completedAtMs: moment,
    bytes: fc.nat(),
    isExact: fc.boolean(),
  })
  .map((one) => ({ ...one, object: objectOf(one.number) }));

const registry: fc.Arbitrary<Registry> = fc.record({
  version: fc.nat(),
  nextNumber: fc.integer({ min: 1 }),
  pending: fc.uniqueArray(work, { selector: ({ id }) => id, maxLength: 4 }),
  complete: fc.uniqueArray(reference, { selector: (one) => one.number, maxLength: 6 }),
  pins: fc.array(
    fc.record({
      object: number.map(objectOf),
      id: fc.string(),
      owner: fc.string(),
      sinceMs: moment,
    }),
    {
      maxLength: 2,
    },
  ),
  base: fc.constant(undefined),
  failures: fc.nat({ max: 5 }),
  triggeredAtMs: moment,
  endedAtMs: moment,
  lastFailure: fc.option(fc.string(), { nil: undefined }),
});

const facts: fc.Arbitrary<CoordinationFacts> = fc.record({
  registry,
  job: fc.option(fc.record({ generation, isRunning: fc.boolean(), isHeld: fc.boolean() }), {
    nil: undefined,
    freq: 10,
  }),
  standing: fc.subarray(['w1', 'w2', 'w3', 'w4']).map((ids): ReadonlySet<string> => new Set(ids)),
  isMergeDue: fc.boolean(),
});

type Check = (
  all: {
    readonly settings: CheckpointSettings;
    readonly facts: CoordinationFacts;
    readonly nowMs: number;
    readonly actions: readonly CoordinationAction[];
  },
  of: <Kind extends CoordinationAction['kind']>(
    kind: Kind,
  ) => Extract<CoordinationAction, { readonly kind: Kind }>[],
) => void;

/** Checks what is decided for any facts. */
const always = (check: Check): void =>
  fc.assert(
    fc.property(settings, facts, moment, (some, given, nowMs) => {
      const { actions } = coordinate(some, given, nowMs);
      check({ settings: some, facts: given, nowMs, actions }, (kind) =>
        actions.filter((action): action is never => action.kind === kind),
      );
    }),
    { numRuns: 2_000 },
  );

const isOurs = ({ kind, label }: PendingWork) =>
  kind === 'checkpoint' || (kind === 'compaction' && label === '');

describe('coordination of any job in any state', () => {
  it('does nothing to a job that is not there or is being created', () => {
    always(({ facts: { job }, actions }) => {
      if (job?.isRunning !== true) expect(actions).toEqual([]);
    });
  });

  it('triggers one checkpoint at a time, and none while the job is held', () => {
    always(
      (
        {
          facts: {
            job,
            registry: { pending },
          },
          nowMs,
        },
        of,
      ) => {
        if (of('trigger').length === 0) return;
        expect(of('trigger')).toHaveLength(1);
        expect(job?.isHeld).toBe(false);
        const making = pending.filter(
          (one) =>
            one.kind === 'checkpoint' &&
            one.label === '' &&
            one.generation === job?.generation &&
            one.expiresAtMs > nowMs,
        );
        expect(making).toEqual([]);
      },
    );
  });

  it('keeps interval and pause, unless the clock was wrong by more than they are', () => {
    always(({ settings: { intervalMs, minPauseMs }, facts: { registry: there }, nowMs }, of) => {
      if (of('trigger').length === 0) return;
      const { triggeredAtMs, endedAtMs } = there;
      if (triggeredAtMs <= nowMs + intervalMs) {
        expect(nowMs).toBeGreaterThanOrEqual(triggeredAtMs + intervalMs);
      }
      if (endedAtMs <= nowMs + minPauseMs) {
        expect(nowMs).toBeGreaterThanOrEqual(endedAtMs + minPauseMs);
      }
    });
  });

  it('never waits for longer than interval and pause', () => {
    fc.assert(
      fc.property(settings, facts, moment, (some, given, nowMs) => {
        const { nextTriggerMs } = coordinate(some, given, nowMs);
        if (nextTriggerMs === undefined) return;
        const longest = 2 * Math.max(some.intervalMs, some.minPauseMs);
        expect(nextTriggerMs - nowMs).toBeLessThanOrEqual(longest);
      }),
    );
  });

  it('leaves a pending checkpoint of the past to whoever makes it, until its time is over', () => {
    always(({ facts: { job, registry: there }, nowMs, actions }) => {
      if (job?.isRunning !== true) return;
      const past = there.pending.filter(({ kind, label }) => kind === 'checkpoint' && label !== '');
      for (const one of past) {
        const about = actions.filter((action) => 'work' in action && action.work === one);
        const isOver =
          one.generation !== job.generation || (nowMs >= one.expiresAtMs && !job.isHeld);
        expect(about.map(({ kind }) => kind)).toEqual(isOver ? ['expire'] : []);
      }
    });
  });
  it('finishes or expires every pending checkpoint, never both; a held job’s waits', () => {
    always(({ facts: { job, registry: there, standing }, nowMs, actions }) => {
      if (job?.isRunning !== true) return;
      const ordinary = there.pending.filter(
        ({ kind, label }) => kind === 'checkpoint' && label === '',
      );
      for (const one of ordinary) {
        const about = actions.filter((action) => 'work' in action && action.work === one);
        const isStale = one.generation !== job.generation || nowMs >= one.expiresAtMs;
        const mayWait = job.isHeld && !isStale && !standing.has(one.id);
        expect(about).toHaveLength(mayWait ? 0 : 1);
      }
    });
  });

  it('finishes nothing of another generation', () => {
    always(({ facts: { job } }, of) => {
      for (const { work: one } of of('finish')) expect(one.generation).toBe(job?.generation);
    });
  });

  it('takes away what others make only when its time is over and nobody holds the job', () => {
    always(({ facts: { job }, nowMs }, of) => {
      for (const { work: one, isFailure } of of('expire')) {
        if (isOurs(one)) continue;
        expect({ isFailure, isHeld: job?.isHeld }).toEqual({ isFailure: false, isHeld: false });
        expect(nowMs).toBeGreaterThanOrEqual(one.expiresAtMs);
      }
    });
  });

  it('counts as failures only checkpoints of this generation whose time is over', () => {
    always(({ facts: { job, standing }, nowMs }, of) => {
      for (const { work: one } of of('expire').filter(({ isFailure }) => isFailure)) {
        expect(one).toMatchObject({ kind: 'checkpoint', generation: job?.generation });
        expect(nowMs).toBeGreaterThanOrEqual(one.expiresAtMs);
        expect(standing.has(one.id)).toBe(false);
      }
    });
  });

  it('retires checkpoints alone, never one that is pinned or among the newest', () => {
    always(({ settings: { retained }, facts: { registry: there } }, of) => {
      const newest = there.complete
        .filter(({ kind }) => kind === 'checkpoint')
        .sort((a, b) => a.generation - b.generation || a.number - b.number)
        .slice(-retained);
      for (const one of of('retire').flatMap(({ references }) => references)) {
        expect(one.kind).toBe('checkpoint');
        expect(newest).not.toContain(one);
        expect(there.pins.map((pin) => pin.object)).not.toContain(one.object);
      }
    });
  });

  it('neither retires, merges, collects nor patrols while the job is held', () => {
    always(({ facts: { job } }, of) => {
      if (job?.isHeld !== true) return;
      const upkeep = [of('retire'), of('compact'), of('collect'), of('patrol')].flat();
      expect(upkeep).toEqual([]);
    });
  });

  it('runs one compaction at most, and begins none beside one that is pending', () => {
    always(({ facts: { job, registry: there, isMergeDue } }, of) => {
      const [first, ...more] = of('compact');
      expect(more).toEqual([]);
      if (first === undefined) return;
      const own = there.pending.filter(
        (one) =>
          one.kind === 'compaction' && one.label === '' && one.generation === job?.generation,
      );
      if (first.work === undefined)
        expect({ own, isMergeDue }).toEqual({ own: [], isMergeDue: true });
      else expect(own).toContain(first.work);
    });
  });

  it('reports more failures in a row than are tolerated, and no fewer', () => {
    always(({ settings: { tolerableFailures }, facts: { job, registry: there } }, of) => {
      const isTooMany = job?.isRunning === true && there.failures > tolerableFailures;
      expect(of('report')).toHaveLength(isTooMany ? 1 : 0);
    });
  });
});

describe('a checkpoint that somebody asks for', () => {
  it('does not wait for interval and pause, but for a hold and for one that is being made', () => {
    fc.assert(
      fc.property(settings, facts, moment, (some, given, nowMs) => {
        const byHand = findObstacle(some, { ...given, isManual: true }, nowMs);
        const byClock = findObstacle(some, given, nowMs);
        if (byHand !== undefined) expect(byClock).toBe(byHand);
        if (given.job?.isHeld === true) expect(byHand).toBeDefined();
      }),
    );
  });
});

describe('retained checkpoints', () => {
  it('are never all retired', () => {
    fc.assert(
      fc.property(registry, fc.integer({ min: -1, max: 3 }), (there, retained) => {
        const checkpoints = there.complete.filter(({ kind }) => kind === 'checkpoint');
        const left = checkpoints.length - chooseRetired(there, retained).length;
        expect(left).toBeGreaterThanOrEqual(Math.min(1, checkpoints.length));
      }),
    );
  });
});
