import { describe, expect, it } from 'vitest';
import { runOverlap, type Overlap, type Stretch } from './overlap-in-memory.ts';

/*
 * The same over memory, where a run takes milliseconds: every port call, reads included, stops before its effect and
 * before its reply, and each item and row is a step of its own.
 */

const entries: Overlap['entries'] = [
  ['k', 'add'],
  ['l', 'delete'],
  ['k', 'delete'],
  ['l', 'add'],
  ['k', 'add'],
  ['l', 'delete'],
  ['m', 'garbage'],
];

const overlaps: readonly (Overlap & { readonly name: string })[] = [
  { name: 'the same cut', entries, known: 2, cuts: { a: 4, b: 4 } },
  { name: 'a shorter retry', entries, known: 2, cuts: { a: 5, b: 1 } },
  { name: 'a longer retry', entries, known: 2, cuts: { a: 2, b: 5 } },
  { name: 'a new channel', entries: entries.slice(1, 5), known: 0, cuts: { a: 3, b: 4 } },
];

describe('two invocations over memory', () => {
  it.for(overlaps)('that are left and come back at any two steps, with $name', async (overlap) => {
    for (const [first, second] of [
      ['a', 'b'],
      ['b', 'a'],
    ] as const) {
      const runs = await tryAll(overlap, (left, right) => [
        { who: first, steps: left },
        { who: second, steps: right },
        { who: first, steps: undefined },
      ]);
      expect(runs).toBeGreaterThan(300);
    }
  });

  it.for(overlaps)('that both die at any step, with $name', async (overlap) => {
    const runs = await tryAll(overlap, (left, right) => [
      { who: 'a', steps: left, then: 'dies' },
      { who: 'b', steps: right, then: 'dies' },
    ]);
    expect(runs).toBeGreaterThan(300);
  });
});

/** Runs a schedule for every length of its first two stretches; returns how many runs that were. */
async function tryAll(
  overlap: Overlap,
  schedule: (left: number, right: number) => readonly Stretch[],
): Promise<number> {
  let runs = 0;
  for (let left = 0, isOver = false; !isOver; left += 1) {
    for (let right = 0, isOtherOver = false; !isOtherOver; right += 1) {
      const { findings, taken, trace } = await runOverlap(overlap, schedule(left, right));
      runs += 1;
      if (findings.length > 0) expect.fail([...findings, ...trace].join('\n'));
      isOver = taken[0]! < left;
      isOtherOver = taken[1]! < right;
    }
  }
  return runs;
}
