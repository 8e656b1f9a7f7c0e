import { describe, expect, it } from 'vitest';

import {
  decodeRegistry,
  encodeRegistry,
  registryBytesMax,
} from '../../../../shared/adapters/dynamodb/registry-item.ts';
import { registryKey, type Item } from '../../../../shared/adapters/dynamodb/table-keys.ts';
import { createDynamodbControlStore } from '../../../../shared/adapters/dynamodb/dynamodb-control-store.ts';
import { createMemorySystem } from '../../../../shared/adapters/memory/memory-system.ts';
import { isHoldfastError } from '../../../../shared/core/errors.ts';
import { unpack } from '../../../../shared/core/pack.ts';
import { decompressZstd } from '../../../../shared/core/platform.ts';
import { emptyRegistry, type Registry } from '../../../../shared/core/registry.ts';
import { makeRegistry } from '../../../contract/registry.contract.ts';
import { fakeDynamodb } from '../fake-client.ts';

const encode = (registry: Registry): Item =>
  encodeRegistry(registryKey('flights'), 'flights', registry);

function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('registry items', () => {
  it.each([
    ['empty', { ...emptyRegistry, version: 1 }],
    ['full', makeRegistry({ complete: 7, pending: 5, pins: 3 })],
    ['without a base', makeRegistry({}, { base: undefined, lastFailure: undefined })],
  ])('come back as they were: %s', (_, registry) => {
    expect(decodeRegistry('flights', encode(registry))).toEqual(registry);
  });

  // A contract: items of released versions have these attributes.
  it('hold version and format as numbers, all else packed in this order', () => {
    const { pk, sk, version, format, body, ...rest } = encode({
      version: 4,
      nextNumber: 9,
      pending: [
        {
          id: 'p',
          kind: 'compaction',
          number: 8,
          generation: 2,
          label: 'l',
          sinceMs: 1,
          expiresAtMs: 2,
        },
      ],
      complete: [
        {
          kind: 'savepoint',
          generation: 1,
          number: 3,
          object: 'o',
          label: 'eve',
          completedAtMs: 5,
          bytes: 6,
          isExact: true,
        },
      ],
      pins: [{ object: 'o', id: 'i', owner: 'w', sinceMs: 7 }],
      base: { generation: 2, object: 'b' },
      failures: 1,
      triggeredAtMs: 10,
      endedAtMs: 11,
      lastFailure: undefined,
    });
    expect([pk, sk, version, format]).toEqual([
      { S: 'job#flights' },
      { S: 'registry' },
      { N: '4' },
      { N: '1' },
    ]);
    expect(rest).toEqual({});
    expect(unpack(decompressZstd(body!.B!, 1_000))).toEqual([
      9,
      [['p', 'compaction', 8, 2, 'l', 1, 2]],
      [['savepoint', 1, 3, 'o', 'eve', 5, 6, true]],
      [['o', 'i', 'w', 7]],
      [2, 'b'],
      1,
      10,
      11,
      null,
    ]);
  });

  it('stay far below what an item takes with 500 savepoints, 50 pending works and 50 pins', () => {
    const { body } = encode(makeRegistry({ complete: 500, pending: 50, pins: 50 }));
    expect(body!.B!.length).toBeLessThan(100 * 1024);
  });

  it('are refused with a remedy before they are sent, where they are too large', async () => {
    // Labels of random digits, which nothing compresses below half.
    const large = makeRegistry({ complete: 16_000 });
    const thrown = thrownBy(() => encode(large));
    expect(isHoldfastError(thrown, 'invalid')).toBe(true);
    expect(String(thrown)).toMatch(
      new RegExp(
        `registry of job flights has \\d+ bytes with 16000 manifests, 1 pending and 1 pins, an item takes at most ${registryBytesMax}; delete savepoints`,
      ),
    );
    const client = fakeDynamodb(() => {
      throw new Error('sent');
    });
    const store = createDynamodbControlStore({ client, table: 't', system: createMemorySystem() });
    await expect(store.writeRegistry('flights', large)).rejects.toThrow(/delete savepoints/);
  });

  it('are refused where their format is newer', () => {
    const item = { ...encode(makeRegistry()), format: { N: '2' } };
    const thrown = thrownBy(() => decodeRegistry('flights', item));
    expect(isHoldfastError(thrown, 'invalid')).toBe(true);
    expect(String(thrown)).toContain('deploy code that reads 2');
  });

  it.each<[string, (item: Item) => Item]>([
    ['no body', ({ body: _, ...item }) => item],
    ['bytes that are not compressed', (item) => ({ ...item, body: { B: new Uint8Array([1]) } })],
    ['a body cut short', (item) => ({ ...item, body: { B: item['body']!.B!.subarray(0, 30) } })],
  ])('are corrupt with %s', (_, damage) => {
    const thrown = thrownBy(() => decodeRegistry('flights', damage(encode(makeRegistry()))));
    expect(isHoldfastError(thrown, 'corrupt')).toBe(true);
  });
});
