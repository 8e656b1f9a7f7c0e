import { describe, expect, it } from 'vitest';
import {
  channelId,
  foreignKeyOf,
  identifyKey,
  originOf,
  partitionKeyCharactersMax,
} from '../../../shared/core/channel.ts';
import { isOwnedBy } from '../../../shared/core/key-group.ts';

const stream = { name: 'events', createdAtMs: 1_735_689_600_000 };
const range = { from: `4${'0'.repeat(31)}`, to: `7${'f'.repeat(31)}` };

describe('channelId', () => {
  it('names operator, stream incarnation and shard', () => {
    expect(channelId({ operator: 'counts', stream, shardId: 'shardId-000000000003' })).toBe(
      'counts/events@1735689600000/shardId-000000000003',
    );
  });

  it('tells two incarnations of one stream apart', () => {
    const again = { ...stream, createdAtMs: stream.createdAtMs + 1 };
    expect(originOf(again)).not.toBe(originOf(stream));
  });
});

describe('identifyKey', () => {
  it('gives a key with the hash that Kinesis routes it by', () => {
    expect(identifyKey('abc')).toEqual({ key: 'abc', hash: '900150983cd24fb0d6963f7d28e17f72' });
  });
});

describe('foreignKeyOf', () => {
  it('is longer than any partition key, so that it is nobody else’s', () => {
    expect(foreignKeyOf('shardId-000000000000', range).key.length).toBe(
      partitionKeyCharactersMax + 1,
    );
  });

  it('lies in the range of the shard that it belongs to', () => {
    expect(isOwnedBy(range, foreignKeyOf('shardId-000000000000', range).hash)).toBe(true);
  });

  it('gives each shard a key of its own', () => {
    const one = foreignKeyOf('shardId-000000000001', range);
    const ten = foreignKeyOf('shardId-000000000010', range);
    expect(one.key).not.toBe(ten.key);
  });

  it('gives a shard the same key each time', () => {
    expect(foreignKeyOf('shardId-000000000001', range)).toEqual(
      foreignKeyOf('shardId-000000000001', range),
    );
  });
});
