import { describe, expect, it } from 'vitest';
import { decodeSegment, encodeSegment } from '../../../shared/core/segment.ts';
import { makeItem, makeSegment } from './segment-fixture.ts';

describe('a segment of very many small entries', () => {
  it.each([1000, 100_000])('can be read: %i tombstones', (count) => {
    const items = Array.from({ length: count }, (_, at) =>
      makeItem({ key: `k${at}`, keyGroup: 1, states: undefined }),
    );
    expect(decodeSegment(encodeSegment(makeSegment(items)), 'test').items).toHaveLength(count);
  });
});
