import { describe, expect, it } from 'vitest';
import type { Manifest } from '../../../../shared/core/manifest.ts';
import {
  createFindNeeded,
  type RecoveryPoints,
  type Stretch,
} from '../../../../shared/runtime/checkpoint/needed-segments.ts';

/** A manifest of a generation whose only channel stood at this segment. */
const at = (generation: number, head: number): Manifest =>
  ({
    generation,
    channels: [
      {
        channel: { operator: 'o', stream: { name: 's', createdAtMs: 0 }, shardId: 'shard' },
        progress: { head: { number: head } },
      },
    ],
  }) as unknown as Manifest;

/** A restore that has made a generation from such a manifest. */
const made = (generation: number, manifest: Manifest, areTablesLost = false) => ({
  ...{ generation, manifest, areTablesLost },
});

const needed = (
  points: Partial<RecoveryPoints> & Pick<RecoveryPoints, 'present'>,
  generation: number,
): readonly Stretch[] => {
  const given = { manifests: [], restores: [], compacted: () => 50, ...points };
  return createFindNeeded(given)(generation, 'o/s@0/shard');
};

const reaches = (stretches: readonly Stretch[], number: number): boolean =>
  stretches.some(({ after, upTo }) => after < number && number <= upTo);

const isNeeded = (
  points: Partial<RecoveryPoints> & Pick<RecoveryPoints, 'present'>,
  generation: number,
  number: number,
): boolean => reaches(needed(points, generation), number);

describe('the segments that have to stay though nothing lists them', () => {
  it('are those that the next manifest lists', () => {
    expect(isNeeded({ present: 1 }, 1, 50)).toBe(false);
    expect(isNeeded({ present: 1 }, 1, 51)).toBe(true);
  });

  it('are those behind the oldest point, which going back to it would void', () => {
    const points = { present: 1, manifests: [at(1, 10), at(1, 30)] };
    expect([10, 11, 30, 31].map((number) => isNeeded(points, 1, number))).toEqual([
      ...[false, true, true, true],
    ]);
  });

  it('are all of a generation, where there is a point in one before it', () => {
    const restores = [made(2, at(1, 10))];
    const points = { present: 2, manifests: [at(1, 10), at(2, 40)], restores };
    expect(isNeeded(points, 2, 1)).toBe(true);
    expect(isNeeded({ ...points, manifests: [at(2, 40)] }, 2, 40)).toBe(false);
  });

  it('are those between the cut of a restore and the undo point that it left', () => {
    const restores = [made(2, at(1, 10))];
    const points = { present: 2, manifests: [at(1, 25)], restores };
    expect([10, 11, 25, 26].map((number) => isNeeded(points, 1, number))).toEqual([
      ...[false, true, true, false],
    ]);
    expect(needed({ ...points, manifests: [at(2, 3)] }, 1)).toEqual([]);
  });

  it('are those on the way of an undone generation, in the generations before it too', () => {
    const restores = [made(2, at(1, 20)), made(3, at(1, 10))];
    const points = { present: 3, manifests: [at(2, 7)], restores };
    expect([10, 11, 20, 21].map((number) => isNeeded(points, 1, number))).toEqual([
      ...[false, true, true, false],
    ]);
    expect([1, 7, 8].map((number) => isNeeded(points, 2, number))).toEqual([true, true, false]);
  });

  it('are all before a point from before tables were lost: what was published is under a later number', () => {
    const points = { present: 2, manifests: [at(1, 10), at(2, 7)] };
    const lost = { ...points, restores: [made(2, at(1, 20), true)] };
    expect([1, 10, 11].map((number) => isNeeded(lost, 1, number))).toEqual([true, true, true]);
    const back = { ...points, restores: [made(2, at(1, 20))] };
    expect(isNeeded(back, 1, 10)).toBe(false);
  });
});
