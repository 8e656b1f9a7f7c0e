import { describe, expect, it } from 'vitest';
import { itemBytes, itemBytesMax, type StoredItem } from '../../../shared/core/stored-item.ts';

const item = (overrides: Partial<StoredItem> = {}): StoredItem => ({
  key: 'k',
  keyGroup: 0,
  version: 1,
  position: { sequence: '4'.repeat(56), sub: 0 },
  arrivalMs: 0,
  states: undefined,
  emissions: undefined,
  spills: [],
  timers: [],
  ...overrides,
});

describe('itemBytes', () => {
  it('counts every byte of states and emissions', () => {
    const empty = itemBytes(item());
    expect(itemBytes(item({ states: new Uint8Array(1000) }))).toBe(empty + 1000);
    expect(itemBytes(item({ emissions: new Uint8Array(500) }))).toBe(empty + 500);
  });

  it.each(['k', 'ä'.repeat(10), '€'.repeat(256), '😀'.repeat(128)])(
    'counts no less for key %j than its UTF-8 bytes',
    (key) => {
      const utf8Bytes = new TextEncoder().encode(key).length;
      expect(itemBytes(item({ key })) - itemBytes(item({ key: '' }))).toBeGreaterThanOrEqual(
        utf8Bytes,
      );
    },
  );

  it('counts the references of spilled emissions, not their objects', () => {
    const spill = {
      name: 'n'.repeat(200),
      bytes: 1_000_000,
      crc: 1,
      last: { sequence: '4'.repeat(56), sub: 0 },
    };
    const counted = itemBytes(item({ spills: [spill] })) - itemBytes(item());
    expect(counted).toBeGreaterThan(256);
    expect(counted).toBeLessThan(1000);
  });
});

describe('itemBytesMax', () => {
  it('leaves room for names and small attributes below the 400 KB of DynamoDB', () => {
    expect(itemBytesMax).toBeLessThanOrEqual(400 * 1024 - 8 * 1024);
    expect(itemBytesMax).toBeGreaterThan(350 * 1024);
  });
});
