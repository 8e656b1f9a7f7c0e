import { afterAll, describe, expect, it } from 'vitest';
import type { Manifest } from '../../shared/core/manifest.ts';
import { isPast } from '../../shared/core/position.ts';
import { findOwner } from '../../shared/core/key-cuts.ts';
import type { PendingWork } from '../../shared/core/registry.ts';
import { finishCompaction } from '../../shared/runtime/checkpoint/finish-compaction.ts';
import {
  planCompaction,
  readPlan,
  type MergeLimits,
} from '../../shared/runtime/checkpoint/plan-compaction.ts';
import { completeCut } from '../../shared/runtime/checkpoint/read-cut.ts';
import {
  runCompaction,
  type CompactionState,
} from '../../shared/runtime/checkpoint/run-compaction.ts';
import { registerPending } from '../../shared/runtime/checkpoint/take-manifest.ts';
import { compactionPrefix } from '../../shared/runtime/object-names.ts';
import { jobName } from '../unit/runtime/job-fixture.ts';
import {
  createHistory,
  mergePlainly,
  type History,
  type Loaded,
} from '../unit/runtime/checkpoint/history.ts';
import { Death, makeMortal } from '../unit/runtime/restore/mortal-ports.ts';

const seeds = Array.from({ length: 40 }, (_, at) => `compaction ${at}`);

/** What the histories had in them: without it the laws would hold for nothing. */
const seen = { inexact: 0, spills: 0, passes: 0, deaths: 0, stops: 0, dropped: 0, splits: 0 };

const happen = async (history: History, events: number): Promise<void> => {
  for (let event = 0; event < events; event += 1) {
    history.put();
    for (let reads = history.upTo(4); reads > 0; reads -= 1) await history.read();
    if (history.chance(0.06) && history.job.stream.shards().length < 7) {
      history.split();
      seen.splits += 1;
    }
  }
};

/** Files and merges so small that a few hundred records take many of them. */
const tightLimits = ({ upTo }: History): MergeLimits => ({
  sourcesMax: 2 + upTo(6),
  memoryBytesMax: 64 * 1024 * 1024,
  fileBytes: 400 + upTo(6000),
});

const register = (history: History): Promise<PendingWork> =>
  registerPending(history.ports, {
    kind: 'compaction',
    generation: 1,
    label: '',
    timeoutMs: 60_000,
  });

/** An invocation that gets as far as its time and its luck reach. */
const invoke = async (history: History, number: number): Promise<CompactionState | undefined> => {
  const { chance, upTo, ports } = history;
  const diesAt = chance(0.5) ? 1 + upTo(40) : Number.POSITIVE_INFINITY;
  const mortal = makeMortal(ports, diesAt, chance(0.5) ? 'before' : 'after');
  let left = chance(0.3) ? 1 + upTo(60) : Number.POSITIVE_INFINITY;
  const deadline = { remainingMs: () => ((left -= 1) > 0 ? 60_000 : 0) };
  try {
    const state = await runCompaction(mortal.ports, number, deadline);
    if (!state.isDone) seen.stops += 1;
    return state;
  } catch (thrown) {
    if (!(thrown instanceof Death)) throw thrown;
    seen.deaths += 1;
    return undefined;
  }
};

const compact = async (history: History, number: number): Promise<CompactionState> => {
  for (let invocations = 0; invocations < 2000; invocations += 1) {
    const both = history.chance(0.3)
      ? await Promise.all([invoke(history, number), invoke(history, number)])
      : [await invoke(history, number)];
    const done = both.filter((state) => state?.isDone === true);
    for (const state of done) expect(state).toEqual(done[0]);
    if (done.length > 0) return done[0]!;
  }
  throw new Error('the compaction never ends');
};

/** All that the channels have ever committed, up to the manifest's cut. */
const mergeAllSegments = async ({ ports }: History, manifest: Manifest): Promise<Loaded> => {
  const { channels } = await completeCut(ports, manifest.channels, undefined, undefined);
  return mergePlainly(ports.objects, manifest, [], channels);
};

describe('a compaction', () => {
  it.each(seeds)(
    'makes of a manifest what a plain merge of all segments makes, %s',
    async (seed) => {
      const history = await createHistory(seed);
      const { ports, upTo, chance } = history;
      for (let round = 0; round < 4; round += 1) {
        await happen(history, 6);
        const { manifest } = await history.checkpoint();
        const work = await register(history);
        const runs = chance(0.3) ? manifest.runs.length : upTo(manifest.runs.length + 1);
        if (!manifest.isExact) seen.inexact += 1;
        const { steps } = await planCompaction(ports, work, manifest, {
          into: compactionPrefix(jobName, work.number),
          dropsTombstones: false,
          runs,
          limits: tightLimits(history),
        });
        if (steps.length > 1) seen.passes += 1;
        // The job goes on beside it.
        await happen(history, 1);
        const done = await compact(history, work.number);
        expect(done.runs).toHaveLength(manifest.runs.length - runs + (done.totalBytes > 0 ? 1 : 0));
        const merged = await mergePlainly(
          ports.objects,
          manifest,
          done.runs,
          manifest.channels.map((cut) => ({ ...cut, segments: [] })),
        );
        expect(merged).toEqual(await mergeAllSegments(history, manifest));
        expect(await finishCompaction(ports, work, done.runs!)).toMatchObject({ isCurrent: true });
      }
      const names = [...history.job.objects.objects().keys()];
      seen.spills += names.filter((name) => name.includes('/emissions/')).length;
    },
    60_000,
  );

  it.each(seeds.slice(0, 20))(
    'drops no tombstone that a retained cut is not past, and nothing else, %s',
    async (seed) => {
      const history = await createHistory(`drops ${seed}`);
      const { ports } = history;
      const retained: Manifest[] = [];
      for (let round = 0; round < 4; round += 1) {
        await happen(history, 6);
        const { manifest } = await history.checkpoint();
        retained.push(manifest);
        const work = await register(history);
        await planCompaction(ports, work, manifest, {
          into: compactionPrefix(jobName, work.number),
          dropsTombstones: true,
          limits: tightLimits(history),
        });
        const done = await compact(history, work.number);
        const merged = await mergePlainly(
          ports.objects,
          manifest,
          done.runs,
          manifest.channels.map((cut) => ({ ...cut, segments: [] })),
        );
        for (const [key, expected] of await mergeAllSegments(history, manifest)) {
          if (merged.has(key)) {
            expect(JSON.parse(merged.get(key)!)).toMatchObject({
              states: (JSON.parse(expected) as { states: unknown }).states,
            });
            continue;
          }
          seen.dropped += 1;
          const { states, position, emissions } = JSON.parse(expected) as {
            states: unknown;
            position: { sequence: string; sub: number };
            emissions: { value: unknown }[];
          };
          expect([states, emissions.filter(({ value }) => value !== null)]).toEqual([null, []]);
          for (const { channels, operators } of retained) {
            const owner = findOwner(channels, operators[0]!.id, key)!;
            const parents = channels.filter(({ channel }) =>
              owner.progress.parentIds.includes(channel.shardId),
            );
            const isPassed = [owner, ...parents].some(
              ({ progress }) =>
                progress.position !== undefined && !isPast(position, progress.position),
            );
            expect(isPassed).toBe(true);
          }
        }
        const plan = await readPlan(ports, work.number);
        expect(plan.dropsUpTo.length).toBeGreaterThan(0);
        await finishCompaction(ports, work, done.runs!);
      }
    },
    60_000,
  );

  afterAll(() => {
    for (const [what, count] of Object.entries(seen)) {
      expect(count, `no history had any ${what}`).toBeGreaterThan(10);
    }
  });
});
