import { describe, expect, it } from 'vitest';
import { runRandomly } from './random-run.ts';

const runs = Number(process.env['HOLDFAST_MODEL_RUNS'] ?? 1200);
const first = Number(process.env['HOLDFAST_MODEL_FROM'] ?? 1);

describe('overlapping invocations with kills, lost replies, splits and merges', () => {
  it(`give the tables and the changelog of a straight run, for ${runs} seeds`, async () => {
    const totals = { kills: 0, refusals: 0, lostReplies: 0, invocations: 0, splits: 0, merges: 0 };
    let reshardedTwice = 0;
    for (let seed = first; seed < first + runs; seed += 1) {
      const result = await runRandomly(String(seed));
      totals.kills += result.kills;
      totals.refusals += result.refusals;
      totals.lostReplies += result.lostReplies;
      totals.invocations += result.invocations;
      totals.splits += result.splits;
      totals.merges += result.merges;
      if (result.splits + result.merges > 1) reshardedTwice += 1;
      if (result.findings.length > 0) {
        const story = result.trace.slice(-60).join('\n');
        expect.fail(
          `seed ${seed}:\n${result.findings.slice(0, 5).join('\n')}\n\nlast steps:\n${story}`,
        );
      }
    }
    // A run in which nothing went wrong would prove nothing.
    expect(totals.kills).toBeGreaterThan(runs / 2);
    expect(totals.refusals).toBeGreaterThan(runs / 4);
    expect(totals.lostReplies).toBeGreaterThan(runs / 4);
    expect(totals.invocations).toBeGreaterThan(runs * 2);
    expect(totals.splits).toBeGreaterThan(runs / 3);
    expect(totals.merges).toBeGreaterThan(runs / 6);
    expect(reshardedTwice).toBeGreaterThan(runs / 5);
  }, 600_000);
});
