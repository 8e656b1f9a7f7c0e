import { describe, expect, it } from 'vitest';
import type { Progress } from '../../../shared/core/progress.ts';
import {
  createEnvironmentMemory,
  forgetChannel,
  forgetItem,
  isOwnCommit,
  recallChannel,
  rememberItem,
  trimMemory,
  type ChannelMemory,
  type WarmItem,
} from '../../../shared/runtime/environment-memory.ts';

const progress: Progress = {
  generation: 1,
  version: 7,
  position: { sequence: '5', sub: 0 },
  attempt: 'mine',
  head: { number: 3, attempt: 'mine', bytes: 100, crc: 5 },
  aheadMax: undefined,
  isFinished: false,
  range: { from: '0'.repeat(32), to: 'f'.repeat(32) },
  parentIds: [],
  committedAtMs: 0,
  checkedAtMs: 0,
  watermarks: { event: undefined, arrival: undefined },
  floors: [],
  firing: undefined,
  earliest: { event: undefined, arrival: undefined },
  timeRules: undefined,
  fence: undefined,
};

const warm = (key: string, stateBytes: number): WarmItem => ({
  item: {
    key,
    keyGroup: 0,
    version: 1,
    position: { sequence: '5', sub: 0 },
    arrivalMs: 0,
    states: new Uint8Array(stateBytes),
    emissions: undefined,
    spills: [],
    timers: [],
  },
  live: [],
  emissions: [],
  hinted: { event: undefined, arrival: undefined },
});

/** An environment with two channels; the second one is being worked on. */
const twoChannels = () => {
  const memory = createEnvironmentMemory();
  const [other, current] = [recallChannel(memory, 'other'), recallChannel(memory, 'current')];
  return { memory, other, current };
};

const keysOf = (channel: ChannelMemory): string[] => [...channel.items.keys()];

describe('recallChannel', () => {
  it('gives the same memory each time, and one of its own to each channel', () => {
    const { memory, other, current } = twoChannels();
    expect(recallChannel(memory, 'other')).toBe(other);
    expect(current).not.toBe(other);
  });
});

describe('isOwnCommit', () => {
  it('is true for exactly the progress that this environment has written last', () => {
    const { current } = twoChannels();
    expect(isOwnCommit(current, progress)).toBe(false);
    current.lastCommit = progress;
    expect(isOwnCommit(current, structuredClone(progress))).toBe(true);
  });

  it.each<Partial<Progress>>([{ generation: 2 }, { version: 8 }, { attempt: 'theirs' }])(
    'is false where it differs by %o',
    (change) => {
      const { current } = twoChannels();
      current.lastCommit = progress;
      expect(isOwnCommit(current, { ...progress, ...change })).toBe(false);
    },
  );

  it('is false once the channel was forgotten', () => {
    const { current } = twoChannels();
    current.lastCommit = progress;
    forgetChannel(current);
    expect(isOwnCommit(current, progress)).toBe(false);
  });
});

describe('the bytes of remembered items', () => {
  it('follow what is remembered, replaced and forgotten', () => {
    const { current } = twoChannels();
    rememberItem(current, warm('a', 100));
    const one = current.itemBytes;
    expect(one).toBeGreaterThan(300);
    rememberItem(current, warm('a', 100));
    expect(current.itemBytes).toBe(one);
    rememberItem(current, warm('b', 100));
    expect(current.itemBytes).toBe(2 * one);
    forgetItem(current, 'a');
    forgetItem(current, 'a');
    expect(current.itemBytes).toBe(one);
    forgetChannel(current);
    expect([current.itemBytes, keysOf(current)]).toEqual([0, []]);
  });
});

describe('trimMemory', () => {
  const fill = () => {
    const channels = twoChannels();
    for (const key of ['a', 'b', 'c']) rememberItem(channels.other, warm(key, 1000));
    for (const key of ['d', 'e', 'f']) rememberItem(channels.current, warm(key, 1000));
    return { ...channels, itemBytes: channels.current.itemBytes / 3 };
  };

  it('drops nothing while everything fits', () => {
    const { memory, other, current, itemBytes } = fill();
    trimMemory(memory, current, 6 * itemBytes);
    expect([keysOf(other), keysOf(current)]).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e', 'f'],
    ]);
  });

  it('drops what belongs to other channels first', () => {
    const { memory, other, current, itemBytes } = fill();
    trimMemory(memory, current, 6 * itemBytes - 1);
    expect([keysOf(other), keysOf(current)]).toEqual([[], ['d', 'e', 'f']]);
  });

  it('drops what was used least lately of the channel itself', () => {
    const { memory, current, itemBytes } = fill();
    rememberItem(current, warm('d', 1000));
    trimMemory(memory, current, 2 * itemBytes);
    expect(keysOf(current)).toEqual(['f', 'd']);
  });

  it('drops everything where nothing may be kept', () => {
    const { memory, other, current } = fill();
    trimMemory(memory, current, 0);
    expect([keysOf(other), keysOf(current)]).toEqual([[], []]);
    expect([other.itemBytes, current.itemBytes]).toEqual([0, 0]);
  });
});
