import { expect, it } from 'vitest';
import { createMemoryObjectStore } from '../../../../shared/adapters/memory/memory-object-store.ts';
import { findCommitted } from '../../../../shared/runtime/checkpoint/committed-segments.ts';
import { segmentName } from '../../../../shared/runtime/object-names.ts';

it('cannot tell which of two segments was committed where another collection has taken the one behind them', async () => {
  const channelId = 'tally/events@1/shardId-000000000000';
  const listed = (
    [
      [1, 'a'],
      [1, 'b'],
      [2, 'c'],
    ] as const
  ).map(([number, attempt]) => segmentName('demo', 1, channelId, { number, attempt }));
  const known = { present: 1, listing: [], progress: new Map<string, never>() };
  const committedAt = await findCommitted(createMemoryObjectStore(), 'demo', listed, known);
  expect(committedAt({ generation: 1, channelId, number: 1 })).toBeUndefined();
  expect(committedAt({ generation: 1, channelId, number: 2 })).toBe('c');
});
