import { describe, expect, it } from 'vitest';
import { runRandomly } from './random-run.ts';

const runs = Number(process.env['HOLDFAST_MODEL_RUNS'] ?? 1500);
const first = Number(process.env['HOLDFAST_MODEL_FROM'] ?? 1);

describe('overlapping invocations with kills, lost replies and splits', () => {
  it(`give the tables and the changelog of a straight run, for ${runs} seeds`, async () => {
    const totals = { kills: 0, refusals: 0, lostReplies: 0, invocations: 0 };
    for (let seed = first; seed < first + runs; seed += 1) {
      const result = await runRandomly(String(seed));
      totals.kills += result.kills;
      totals.refusals += result.refusals;
      totals.lostReplies += result.lostReplies;
      totals.invocations += result.invocations;
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
  }, 600_000);
});
