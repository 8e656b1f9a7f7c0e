import { describe, expect, it } from 'vitest';
import { runSeeds } from './run-seeds.ts';
import { runChunk } from './seed-chunk.ts';

describe('a range of seeds', () => {
  it('comes to the same however many workers there are', async () => {
    const range = { from: 5, seeds: 23, kind: 'data-path' } as const;
    const straight = await runChunk({ ...range, isWhole: true });
    for (const jobs of [1, 3]) {
      const { failures, runs, steps, strikes, events } = await runSeeds({ ...range, jobs });
      expect({ jobs, failures }).toEqual({ jobs, failures: straight.failures });
      expect(runs).toEqual(new Map([['data-path', 23]]));
      expect({ jobs, steps, strikes, events }).toEqual({
        jobs,
        steps: straight.steps,
        strikes: straight.strikes,
        events: straight.events,
      });
    }
  }, 60_000);

  it('ends early where it is told to stop, with what it has come to', async () => {
    const controller = new AbortController();
    const totals = await runSeeds({
      ...{ from: 1, seeds: 100_000, kind: 'data-path', jobs: 2 },
      signal: controller.signal,
      onProgress: () => controller.abort(),
    });
    const done = [...totals.runs.values()].reduce((sum, count) => sum + count, 0);
    expect(done).toBeGreaterThan(0);
    expect(done).toBeLessThan(100);
  }, 60_000);
});
