import { describe, expect, it } from 'vitest';
import { packEmissions, unpackEmissions, type Emission } from '../../../../shared/core/emission.ts';
import type { Reservation } from '../../../../shared/core/reservation.ts';
import { itemBytesMax } from '../../../../shared/core/stored-item.ts';
import { makeLoaded } from '../../../../shared/runtime/restore/load.ts';
import { makeCut, makeFile, makeManifest, makeProgress } from '../../core/manifest-fixture.ts';
import { makeEntry } from '../../core/run-file-fixture.ts';
import { positionAt } from '../../core/segment-fixture.ts';

const reservation: Reservation = {
  ...{ job: 'demo', generation: 2, parent: 1, manifest: 'm', restore: 'r', hold: 'h', base: 'b' },
  forks: [],
  dropped: [],
  left: [],
};

const emissionAt = (at: number, characters: number): Emission => ({
  position: positionAt(at),
  index: 0,
  sink: 'rows',
  row: '',
  value: { text: 't'.repeat(characters) },
});

/** A key that is ahead of a cut at 5, with an output on each side of it. */
const load = (isExact: boolean, characters: number) => {
  const progress = makeProgress({
    position: positionAt(5),
    ...(isExact ? {} : { aheadMax: positionAt(8) }),
  });
  const manifest = makeManifest({ isExact, channels: [makeCut({ progress })] });
  const emissions = packEmissions([emissionAt(4, 1), emissionAt(7, characters)]);
  const entry = makeEntry({ key: 'ann', position: positionAt(8), emissions });
  return makeLoaded(reservation, manifest, makeFile(), entry);
};

describe('an item that a generation begins with', () => {
  it('has none of its outputs where the cut is exact: all were published', () => {
    expect(load(true, 10)).toMatchObject({
      item: { emissions: undefined, spills: [] },
      spill: undefined,
    });
  });

  it('has those past an inexact cut', () => {
    const { item, spill } = load(false, 10);
    expect(unpackEmissions(item.emissions!)).toEqual([emissionAt(7, 10)]);
    expect(spill).toBeUndefined();
  });

  it('names an object that holds them where there is no room, the same for every loader', () => {
    const { item, spill } = load(false, itemBytesMax);
    expect(item.emissions).toBeUndefined();
    expect(item.spills).toMatchObject([{ name: spill!.name, last: positionAt(7) }]);
    expect(spill!.name).toMatch(/generations\/00000002\/emissions\/counts\/.*\/000000000001-seed-/);
    expect(unpackEmissions(spill!.bytes)).toEqual([emissionAt(7, itemBytesMax)]);
    const twin = load(false, itemBytesMax);
    expect(twin.item.spills).toEqual(item.spills);
    expect(Buffer.compare(twin.spill!.bytes, spill!.bytes)).toBe(0);
  });
});
