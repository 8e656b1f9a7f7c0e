import { describe, expect, it } from 'vitest';
import { drawnKinds, kinds, openSeed, simulate } from './kinds.ts';
import { recordDraws, replayDraws } from './random-draws.ts';

const seeds = Array.from({ length: 20 }, (_, at) => at + 1);

describe.each(kinds)('a seed of the kind %s', (kind) => {
  it('gives the same run each time, step by step, and so do its recorded draws', async () => {
    for (const seed of seeds) {
      const source = recordDraws(openSeed(seed, kind).random);
      const first = await simulate(kind, source.random);
      expect(first.trace.length).toBeGreaterThan(10);
      expect([seed, await simulate(kind, openSeed(seed, kind).random)]).toEqual([seed, first]);
      expect([seed, await simulate(kind, replayDraws(source.draws))]).toEqual([seed, first]);
    }
  }, 600_000);

  it('is calm where nothing but calm draws are left', async () => {
    const run = await simulate(kind, replayDraws([]));
    expect(run.findings).toEqual([]);
    expect([...run.strikes]).toEqual([]);
  });
});

describe('a seed', () => {
  it('draws its kind, and is the same run where that kind is named', async () => {
    for (const seed of seeds) {
      const { kind, random } = openSeed(seed);
      expect(openSeed(seed, kind).random()).toBe(random());
    }
    const drawn = new Set(seeds.map((seed) => openSeed(seed).kind));
    expect([...drawn].sort()).toEqual([...drawnKinds].sort());
  });
});
