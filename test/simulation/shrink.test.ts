import { describe, expect, it } from 'vitest';
import { seededRandom, type RandomSource } from '../../shared/core/random.ts';
import { chance, createGate, pick, type Gate, type StepOwner } from './engine/gate.ts';
import { calm, recordDraws, replayDraws } from './random-draws.ts';
import { shapeOf, shrinkRun } from './shrink.ts';
import type { Simulate } from './simulation-run.ts';

/*
 * A service with a bug: who dies behind its write of `b` leaves something behind, which breaks whoever removes `c` after that.
 * Processes come one after the other or beside each other, with calls of all kinds.
 */
const calls = ['read a', 'write a', 'write b', 'remove c', 'list d'] as const;

const simulateBuggy: Simulate = async (random) => {
  const gate = createGate();
  const findings: string[] = [];
  let isLeftBehind = false;
  const processes = Array.from({ length: 1 + pick(random, 8) }, (_, at) => ({
    owner: { name: `#${at + 1}`, isDead: false },
    calls: Array.from({ length: 1 + pick(random, 12) }, () => calls[pick(random, 5)]!),
  }));
  for (const { owner, calls: all } of processes) {
    void callAll(gate, owner, all, (call) => {
      if (call !== 'remove c' || !isLeftBehind) return;
      findings.push(`${owner.name} broke at step ${gate.trace.length}`);
    });
  }
  await gate.drain(
    (labels) => {
      const index = pick(random, labels.length);
      const choice = chance(random, 0.05) ? 'kill' : 'proceed';
      if (choice === 'kill' && labels[index]!.endsWith('after write b')) isLeftBehind = true;
      return { index, choice };
    },
    () => false,
  );
  return { findings, trace: gate.trace, strikes: gate.strikes };
};

async function callAll(
  gate: Gate,
  owner: StepOwner,
  all: readonly string[],
  onCall: (call: string) => void,
): Promise<void> {
  for (const call of all) await gate.step(owner, call, async () => onCall(call));
}

interface Failing {
  readonly draws: readonly number[];
  readonly steps: number;
}

async function findFailing(count: number): Promise<Failing[]> {
  const failing: Failing[] = [];
  for (let seed = 1; failing.length < count; seed += 1) {
    const source = recordDraws(seededRandom(`buggy ${seed}`));
    const { findings, trace } = await simulateBuggy(source.random);
    if (findings.length > 0) failing.push({ draws: source.draws, steps: trace.length });
  }
  return failing;
}

/** So many runs, however long they take. */
function countDown(runs: number): () => boolean {
  let left = runs;
  return () => left-- > 0;
}

describe('shrinking', () => {
  it('finds nearly the least that it takes to fail', async () => {
    const sizes: { from: number; to: number }[] = [];
    for (const { draws, steps } of await findFailing(8)) {
      const { run } = await shrinkRun(simulateBuggy, draws, { mayGoOn: countDown(4000) });
      expect(run.findings).toHaveLength(1);
      expect(run.trace.filter((line) => line.endsWith('after write b ✝'))).toHaveLength(1);
      sizes.push({ from: steps, to: run.trace.length });
    }
    // Four steps are the least: before and after the write, before and after the removal.
    expect(Math.min(...sizes.map(({ to }) => to))).toBeLessThanOrEqual(9);
    expect(Math.max(...sizes.map(({ to }) => to))).toBeLessThanOrEqual(16);
    const sum = (side: 'from' | 'to') => sizes.reduce((total, one) => total + one[side], 0);
    expect(sum('from')).toBeGreaterThan(4 * sum('to'));
  }, 120_000);

  it('gives draws that replay its run, and never a run that is larger', async () => {
    for (const { draws, steps } of await findFailing(10)) {
      let last = steps + 1;
      const shrunk = await shrinkRun(simulateBuggy, draws, {
        mayGoOn: countDown(200),
        onSmaller({ run }) {
          expect(run.trace.length).toBeLessThanOrEqual(last);
          last = run.trace.length;
        },
      });
      expect(shrunk.run.trace.length).toBeLessThanOrEqual(steps);
      expect(shrunk.runs).toBeLessThanOrEqual(201);
      expect(await simulateBuggy(replayDraws(shrunk.draws))).toEqual(shrunk.run);
    }
  });

  it('keeps to the first finding, whatever else a smaller run finds', async () => {
    const simulateTwo: Simulate = async (random) => {
      const steps = Array.from({ length: pick(random, 20) }, () => '#1 before call');
      const isRare = chance(random, 0.5) && steps.length > 7;
      return {
        findings: [isRare ? `step ${steps.length} is rare` : 'every run is bad'],
        trace: steps,
        strikes: new Map(),
      };
    };
    const { run } = await shrinkRun(simulateTwo, [0.9, 0.1], { mayGoOn: countDown(500) });
    expect(run.findings).toEqual(['step 8 is rare']);
  });

  it('refuses a run that finds nothing', async () => {
    const simulateNothing = async (random: RandomSource) => {
      random();
      return { findings: [], trace: [], strikes: new Map<string, number>() };
    };
    await expect(shrinkRun(simulateNothing, [calm], { mayGoOn: () => true })).rejects.toThrow(
      'nothing to shrink',
    );
  });
});

describe('the shape of a finding', () => {
  it('leaves out numbers and quoted data', () => {
    const one = 'shard-0001 at entry 12 of k3: journal of k3 is /1~none /1~none/2~4, expected /1~9';
    const two = 'shard-0003 at entry 7 of k1: journal of k1 is , expected /4~none!two@4~5~6 /7~8';
    expect(shapeOf(one)).toBe(shapeOf(two.replace('is ,', 'is /1,')));
    expect(shapeOf(one)).not.toBe(shapeOf('k3 has no item'));
  });
});
