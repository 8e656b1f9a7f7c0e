import type { Segment, SegmentHeader } from '../../../shared/core/segment.ts';
import type { StoredItem } from '../../../shared/core/stored-item.ts';

/** A position with a sequence number as wide as AWS's. */
export function positionAt(record: number, sub = 0): StoredItem['position'] {
  return { sequence: (49n * 10n ** 54n + BigInt(record)).toString(), sub };
}

export function makeItem(overrides: Partial<StoredItem> = {}): StoredItem {
  return {
    key: 'key',
    keyGroup: 7,
    version: 3,
    position: positionAt(5),
    arrivalMs: 1_735_689_600_000,
    states: new Uint8Array([1, 2, 3]),
    emissions: undefined,
    spills: [],
    timers: [],
    ...overrides,
  };
}

export function makeSegment(
  items: readonly StoredItem[],
  header: Partial<SegmentHeader> = {},
): Segment {
  return {
    header: {
      channel: 'counts/events@1735689600000/shardId-000000000000',
      generation: 1,
      number: 4,
      attempt: 'a'.repeat(32),
      from: positionAt(4),
      to: positionAt(5),
      chain: [{ number: 3, attempt: 'b'.repeat(32), bytes: 900, crc: 4_000_000_000 }],
      ahead: [],
      watermarks: { event: undefined, arrival: undefined },
      entries: items.length,
      ...header,
    },
    items,
  };
}
