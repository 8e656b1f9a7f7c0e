import { describe, expect, it } from 'vitest';
import { foreignKeyOf } from '../../../shared/core/channel.ts';
import { hashKey } from '../../../shared/core/key-group.ts';
import {
  createKeyCuts,
  cutRanges,
  earliestRanges,
  findOwner,
  findRange,
} from '../../../shared/core/key-cuts.ts';
import type { ChannelCut } from '../../../shared/core/manifest.ts';
import type { Progress } from '../../../shared/core/progress.ts';
import { positionAt } from './segment-fixture.ts';

const hash = (start: string, fill: string): string => start.padEnd(32, fill);
const whole = { from: hash('', '0'), to: hash('', 'f') };
const low = { from: hash('', '0'), to: hash('7', 'f') };
const high = { from: hash('8', '0'), to: hash('', 'f') };

const channel = (
  shardId: string,
  record: number | undefined,
  given: Partial<Progress> & Pick<Progress, 'range'>,
): ChannelCut => ({
  channel: { operator: 'counts', stream: { name: 'events', createdAtMs: 0 }, shardId },
  progress: {
    position: record === undefined ? undefined : positionAt(record),
    parentIds: [],
    aheadMax: undefined,
    ...given,
  } as unknown as Progress,
  ahead: [],
  segments: [],
});

/** One shard that was split, whose second child has read nothing yet. */
const split = [
  channel('s0', 5, { range: whole, isFinished: true }),
  channel('s1', 8, { range: low, parentIds: ['s0'], aheadMax: positionAt(9) }),
  channel('s2', undefined, { range: high, parentIds: ['s0'] }),
];

const keyIn = ({ from, to }: { from: string; to: string }): string => {
  for (let at = 0; ; at += 1) {
    const key = `key-${at}`;
    if (from <= hashKey(key) && hashKey(key) <= to) return key;
  }
};

describe('the cut of a key', () => {
  it('lies at its youngest channel, or where the parent ended if that has read nothing', () => {
    const cutOf = createKeyCuts(split, 'counts');
    expect(cutOf(keyIn(low))).toMatchObject({ position: positionAt(8), isExact: false });
    expect(cutOf(keyIn(high))).toMatchObject({ position: positionAt(5), isExact: true });
    expect(findOwner(split, 'counts', keyIn(high))!.channel.shardId).toBe('s2');
  });

  it('is that of the channel itself for its verdicts', () => {
    const { key } = foreignKeyOf('s1', low);
    expect(createKeyCuts(split, 'counts')(key)).toEqual({
      position: positionAt(8),
      isExact: false,
    });
  });

  it('is unknown for another operator', () => {
    expect(createKeyCuts(split, 'others')(keyIn(low))).toBeUndefined();
  });
});

describe('ranges of cuts', () => {
  const before = [channel('s0', 4, { range: whole })];

  it('are as many as channels cut the hashes into', () => {
    expect(cutRanges(split, 'counts').map(({ from }) => from)).toEqual([low.from, high.from]);
  });

  it('of several cuts are at the earliest', () => {
    const ranges = earliestRanges([cutRanges(split, 'counts'), cutRanges(before, 'counts')]);
    expect(ranges).toEqual([
      { from: low.from, position: positionAt(4) },
      { from: high.from, position: positionAt(4) },
    ]);
  });

  it('have no position where one of the cuts has none', () => {
    const unread = [channel('s0', undefined, { range: whole })];
    const ranges = earliestRanges([cutRanges(split, 'counts'), cutRanges(unread, 'counts')]);
    expect(ranges.map(({ position }) => position)).toEqual([undefined, undefined]);
  });

  it('are found by any hash in them', () => {
    const ranges = cutRanges(split, 'counts');
    expect(findRange(ranges, low.to)!.from).toBe(low.from);
    expect(findRange(ranges, high.from)!.from).toBe(high.from);
    expect(findRange(ranges, high.to)!.from).toBe(high.from);
    expect(findRange([], high.to)).toBeUndefined();
  });
});
