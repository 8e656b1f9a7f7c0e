import { describe, expect, it } from 'vitest';
import type { Shard } from '../../../shared/core/channel.ts';
import {
  choosePatrol,
  type PatrolFacts,
  type PatrolledChannel,
} from '../../../shared/core/patrol.ts';

const hourMs = 3600 * 1000;
const nowMs = 100 * hourMs;
const range = { from: '0'.repeat(32), to: 'f'.repeat(32) };

const shard = (shardId: string, ...parentIds: string[]): Shard => ({ shardId, range, parentIds });
const channel = (
  shardId: string,
  progress: Partial<PatrolledChannel['progress']> = {},
): PatrolledChannel => ({
  operator: 'tally',
  shardId,
  progress: {
    ...{ isFinished: false, fence: undefined },
    ...{ committedAtMs: nowMs - hourMs, checkedAtMs: nowMs },
    ...progress,
  },
});

const visits = (facts: Partial<PatrolFacts>): string[] =>
  choosePatrol({
    operators: ['tally'],
    channels: [],
    shards: [],
    retentionMs: 24 * hourMs,
    nowMs,
    ...facts,
  }).map(({ shardId, reason }) => `${shardId} ${reason}`);

describe('a patrol', () => {
  it('leaves alone a channel that is read and open', () => {
    expect(visits({ channels: [channel('a')], shards: [shard('a')] })).toEqual([]);
  });

  it('visits what a hold that is over has fenced', () => {
    const channels = [channel('a', { fence: 'h1' })];
    expect(visits({ channels, shards: [shard('a')] })).toEqual(['a fenced']);
  });

  it('visits what nobody has seen the tip of for more than a quarter of the retention', () => {
    const since = (ageMs: number) =>
      visits({ channels: [channel('a', { checkedAtMs: nowMs - ageMs })], shards: [shard('a')] });
    expect(since(6 * hourMs)).toEqual([]);
    expect(since(6 * hourMs + 1)).toEqual(['a quiet']);
  });

  it('visits a closed shard until it is finished, and then its children', () => {
    const shards = [shard('a'), shard('b', 'a'), shard('c', 'a')];
    expect(visits({ channels: [channel('a')], shards })).toEqual(['a closed']);
    const channels = [channel('a', { isFinished: true })];
    expect(visits({ channels, shards })).toEqual(['b unread', 'c unread']);
  });

  it('leaves the rest of a closed shard to the trigger while that brings it', () => {
    const shards = [shard('a'), shard('b', 'a'), shard('c', 'a')];
    const since = (ageMs: number) =>
      visits({ channels: [channel('a', { committedAtMs: nowMs - ageMs })], shards });
    expect(since(59_999)).toEqual([]);
    expect(since(60_000)).toEqual(['a closed']);
    const fenced = channel('a', { committedAtMs: nowMs, fence: 'h1' });
    expect(visits({ channels: [fenced], shards })).toEqual(['a fenced']);
  });

  it('visits a child whose parents have left the stream', () => {
    expect(visits({ shards: [shard('b', 'gone')] })).toEqual(['b unread']);
  });

  it('waits with a merged child for both of its parents', () => {
    const shards = [shard('a'), shard('b'), shard('c', 'a', 'b')];
    const channels = [channel('a', { isFinished: true }), channel('b')];
    expect(visits({ channels, shards })).toEqual(['b closed']);
  });

  it('cannot visit a channel whose shard has left the stream', () => {
    expect(visits({ channels: [channel('a', { fence: 'h1' })], shards: [] })).toEqual([]);
  });

  it('takes each operator for itself, and the most urgent first', () => {
    const shards = [shard('a'), shard('b'), shard('c')];
    const channels = [
      channel('a', { checkedAtMs: 2 }),
      channel('b', { checkedAtMs: 1 }),
      channel('c', { fence: 'h1' }),
    ];
    const chosen = choosePatrol({
      ...{ operators: ['tally', 'other'], channels, shards, retentionMs: 24 * hourMs, nowMs },
    });
    expect(chosen.map(({ operator, shardId }) => `${operator}/${shardId}`)).toEqual([
      'tally/c',
      'tally/b',
      'tally/a',
      'other/a',
      'other/b',
      'other/c',
    ]);
  });
});
