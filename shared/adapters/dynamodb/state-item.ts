import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Spill } from '../../core/emission.ts';
import { HoldfastError } from '../../core/errors.ts';
import { pack, unpack } from '../../core/pack.ts';
import { formatPosition, parsePosition } from '../../core/position.ts';
import type { StoredItem } from '../../core/stored-item.ts';
import { packTimer, unpackTimer, type PackedTimer, type Timer } from '../../core/timer.ts';
import { keyGroupOfPartition, type Item } from './table-keys.ts';

/*
 * A key's item in the state table. Names are short, as they are paid for with every item.
 *
 *   v    N     version
 *   p    S     position; a sequence number has 56 digits and a DynamoDB number 38
 *   a    N     arrival of the record at the position, ms since the epoch
 *   s    B     packed states; absent for a tombstone
 *   d    BOOL  true for a tombstone, else absent
 *   e    B     packed emissions, if any
 *   x    L     objects that hold further emissions, if any: maps of n (name), b (bytes), c (CRC), l (last position)
 *   t    B     packed timers, if any: MessagePack, in the order in which they fire
 *   ttl  N     when a tombstone may be collected, s since the epoch
 */

/** Attributes that an item has or has not; what a state write does not set, it removes. */
export const optionalStateAttributes = ['s', 'd', 'e', 'x', 't', 'ttl'] as const;

export function encodeStateItem(partitionPrefix: string, item: StoredItem): Item {
  const encoded: Item = {
    pk: { S: partitionPrefix + item.keyGroup },
    sk: { S: item.key },
    v: { N: String(item.version) },
    p: { S: formatPosition(item.position) },
    a: { N: String(item.arrivalMs) },
  };
  if (item.states === undefined) encoded['d'] = { BOOL: true };
  else encoded['s'] = { B: item.states };
  if (item.emissions !== undefined) encoded['e'] = { B: item.emissions };
  if (item.spills.length > 0) encoded['x'] = { L: item.spills.map(encodeSpill) };
  if (item.timers.length > 0) encoded['t'] = { B: pack(item.timers.map(packTimer)) };
  return encoded;
}

export function decodeStateItem(item: Item): StoredItem {
  const partition = item['pk']?.S;
  const key = item['sk']?.S;
  const version = Number(item['v']?.N);
  const position = item['p']?.S;
  const arrivalMs = Number(item['a']?.N);
  if (
    partition === undefined ||
    key === undefined ||
    position === undefined ||
    Number.isNaN(version) ||
    Number.isNaN(arrivalMs)
  ) {
    throw new HoldfastError(
      'corrupt',
      `state item ${JSON.stringify([partition, key])} has no version, position or arrival: something else writes to the state table; stop it and restore`,
    );
  }
  return {
    key,
    keyGroup: keyGroupOfPartition(partition),
    version,
    position: parsePosition(position),
    arrivalMs,
    states: item['s']?.B,
    emissions: item['e']?.B,
    spills: item['x']?.L?.map(decodeSpill) ?? [],
    timers: decodeTimers(item['t']?.B),
  };
}

function decodeTimers(bytes: Uint8Array | undefined): Timer[] {
  return bytes === undefined ? [] : (unpack(bytes) as PackedTimer[]).map(unpackTimer);
}

function encodeSpill(spill: Spill): AttributeValue {
  return {
    M: {
      n: { S: spill.name },
      b: { N: String(spill.bytes) },
      c: { N: String(spill.crc) },
      l: { S: formatPosition(spill.last) },
    },
  };
}

function decodeSpill(value: AttributeValue): Spill {
  const { n, b, c, l } = value.M ?? {};
  return {
    name: n?.S ?? '',
    bytes: Number(b?.N),
    crc: Number(c?.N),
    last: parsePosition(l?.S ?? ''),
  };
}
