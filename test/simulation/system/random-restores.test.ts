import { describe, expect, it } from 'vitest';
import { runRestoresRandomly } from './random-restore.ts';

const runs = Number(process.env['HOLDFAST_MODEL_RESTORES'] ?? 300);
const first = Number(process.env['HOLDFAST_MODEL_FROM'] ?? 1);

describe('restores beside deliveries, reshards, checkpoints and each other, with deaths, sleeps and lost replies', () => {
  it(`give the tables of a straight run, for ${runs} seeds`, async () => {
    const totals = { kills: 0, sleeps: 0, restores: 0, flips: 0, aborts: 0 };
    for (let seed = first; seed < first + runs; seed += 1) {
      const { findings, trace, ...counts } = await runRestoresRandomly(String(seed));
      for (const name of Object.keys(totals) as (keyof typeof totals)[]) {
        totals[name] += counts[name];
      }
      if (findings.length === 0) continue;
      const story = trace.slice(-60).join('\n');
      expect.fail(`seed ${seed}:\n${findings.slice(0, 5).join('\n')}\n\nlast steps:\n${story}`);
    }
    // A run in which nothing went wrong would prove nothing.
    expect(totals.kills).toBeGreaterThan(runs);
    expect(totals.sleeps).toBeGreaterThan(runs);
    expect(totals.restores).toBeGreaterThan(runs);
    expect(totals.flips).toBeGreaterThan(runs / 2);
    expect(totals.aborts).toBeGreaterThan(runs / 10);
  }, 600_000);
});
