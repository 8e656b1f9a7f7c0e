import { describe, expect, it } from 'vitest';

import {
  decodeStateItem,
  encodeStateItem,
  optionalStateAttributes,
} from '../../../../shared/adapters/dynamodb/state-item.ts';
import { tableKey } from '../../../../shared/adapters/dynamodb/table-keys.ts';
import { HoldfastError } from '../../../../shared/core/errors.ts';
import type { Timer } from '../../../../shared/core/timer.ts';
import { makeItem } from '../../../contract/state-store.contract.ts';

const timers: Timer[] = [
  { domain: 'event', time: 1, name: 'a' },
  { domain: 'arrival', time: -2, name: 'b:c' },
  { domain: 'event', time: 1_735_689_600_000, name: 'd' },
];

// A contract: items of released versions have these attributes.
describe('items of the state table', () => {
  it('hold timers as MessagePack: domain, time and name of each', () => {
    // [[0, 1, "a"], [1, -2, "b:c"], [0, 1735689600000 as a double, "d"]]
    const bytes = Buffer.from(
      '93930001a16193' + '01fea3623a6393' + '00cb427941f297c00000a164',
      'hex',
    );
    const encoded = encodeStateItem('j#1#o#', makeItem({ timers }));
    expect(Buffer.from(encoded['t']!.B!).toString('hex')).toBe(bytes.toString('hex'));
    expect(decodeStateItem({ ...encoded, t: { B: bytes } }).timers).toEqual(timers);
  });

  it('have no timers where they come from before there were any', () => {
    const { t, ...old } = encodeStateItem('j#1#o#', makeItem({ timers }));
    expect(t).toBeDefined();
    expect(decodeStateItem(old)).toEqual(makeItem());
  });

  it('are as they were before there were timers where there are none', () => {
    expect(encodeStateItem('j#1#o#', makeItem())).not.toHaveProperty('t');
  });

  it('lose with a write every attribute that it does not set', () => {
    const spills = [{ name: 'a', bytes: 1, crc: 2, last: makeItem().position }];
    const emissions = new Uint8Array([1]);
    const full = encodeStateItem('j#1#o#', makeItem({ timers, spills, emissions }));
    const bare = encodeStateItem('j#1#o#', makeItem({ states: undefined }));
    const names = new Set([...Object.keys(full), ...Object.keys(bare)]);
    const kept = ['pk', 'sk', 'v', 'p', 'a'];
    expect([...optionalStateAttributes].toSorted()).toEqual(
      [...names, 'ttl'].filter((name) => !kept.includes(name)).toSorted(),
    );
  });

  it.each([
    ['version', { p: { S: '1.0' }, a: { N: '1' } }],
    ['position', { v: { N: '1' }, a: { N: '1' } }],
    ['arrival', { v: { N: '1' }, p: { S: '1.0' } }],
  ])('are corrupt without %s', (_title, attributes) => {
    const decode = () => decodeStateItem({ ...tableKey('j#1#o#5', 'k'), ...attributes });
    expect(decode).toThrow(HoldfastError);
    expect(decode).toThrow(/no version, position or arrival/);
  });
});
