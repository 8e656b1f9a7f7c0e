import { describe, expect, it } from 'vitest';
import { deaggregate } from '../../../shared/core/aggregated-record.ts';
import { aggregate, bytesField, seal, varintField } from './aggregate-fixture.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const readTexts = (data: Uint8Array): [string, string][] | undefined =>
  deaggregate(data)?.map((record) => [record.partitionKey, new TextDecoder().decode(record.data)]);

const three = [
  { partitionKey: 'a', data: 'first' },
  { partitionKey: 'b', data: 'second' },
  { partitionKey: 'a', data: 'third' },
];

describe('deaggregate', () => {
  it('gives the records of an aggregate in order, each with its own key', () => {
    expect(readTexts(aggregate(three))).toEqual([
      ['a', 'first'],
      ['b', 'second'],
      ['a', 'third'],
    ]);
  });

  it('reads a blob that was written down byte by byte', () => {
    const message = [0x0a, 0x01, 0x6b, 0x1a, 0x05, 0x08, 0x00, 0x1a, 0x01, 0x78];
    expect(message).toEqual(whole);
    expect(readTexts(seal(message))).toEqual([['k', 'x']]);
  });

  it('takes the partition key where a record has an explicit hash key, too', () => {
    const records = three.map((record, at) => ({ ...record, explicitHashKey: String(at) }));
    expect(readTexts(aggregate(records))).toEqual(readTexts(aggregate(three)));
  });

  it('ignores tags', () => {
    const tagged = [{ ...three[0]!, tags: [{ key: 'source', value: 'test' }, { key: 'bare' }] }];
    expect(readTexts(aggregate(tagged))).toEqual([['a', 'first']]);
  });

  it('ignores fields that it does not know', () => {
    const message = [...varintField(9, 5), ...bytesField(10, 'new'), ...bytesField(1, 'k')];
    const record = [...varintField(1, 0), ...bytesField(3, 'x'), ...varintField(12, 1)];
    expect(readTexts(seal([...message, ...bytesField(3, record)]))).toEqual([['k', 'x']]);
  });

  it('reads records that stand before the table of their keys', () => {
    const record = bytesField(3, [...varintField(1, 0), ...bytesField(3, 'x')]);
    expect(readTexts(seal([...record, ...bytesField(1, 'k')]))).toEqual([['k', 'x']]);
  });

  it('gives empty data and many records with keys beyond one byte of index', () => {
    const many = Array.from({ length: 300 }, (_, at) => ({ partitionKey: `key-${at}`, data: '' }));
    expect(readTexts(aggregate(many))).toEqual(many.map((record) => [record.partitionKey, '']));
  });

  it('gives data longer than a varint of two bytes counts', () => {
    const data = new Uint8Array(70_000).fill(7);
    expect(deaggregate(aggregate([{ partitionKey: 'k', data }]))?.[0]?.data).toEqual(data);
  });

  it('decodes keys as UTF-8', () => {
    expect(readTexts(aggregate([{ partitionKey: 'zürich-€', data: 'x' }]))?.[0]?.[0]).toBe(
      'zürich-€',
    );
  });
});

/** A whole aggregate of one record; what follows it must be whole, too. */
const whole = [
  ...bytesField(1, 'k'),
  ...bytesField(3, [...varintField(1, 0), ...bytesField(3, 'x')]),
];

describe('deaggregate takes for an ordinary record', () => {
  it.each<[string, Uint8Array]>([
    ['nothing', new Uint8Array()],
    ['JSON', bytes('{"key":"a","some":"event that is longer than the frame"}')],
    ['the magic alone', new Uint8Array([0xf3, 0x89, 0x9a, 0xc2])],
    ['an aggregate of no records', aggregate([])],
    ['a table of keys without records', seal(bytesField(1, 'k'))],
    [
      'a record whose key is not in the table',
      seal(bytesField(3, [...varintField(1, 4), ...bytesField(3, 'x')])),
    ],
    ['a record without data', seal([...bytesField(1, 'k'), ...bytesField(3, varintField(1, 0))])],
    ['a record without a key', seal([...bytesField(1, 'k'), ...bytesField(3, bytesField(3, 'x'))])],
    ['a field that is longer than the message', seal([...whole, 0x0a, 0x7f, 0x6b])],
    ['a varint that does not end', seal([...whole, 0x0a, 0x80, 0x80])],
    ['a fixed-width field', seal([...whole, 0x0d, 0, 0, 0, 0])],
  ])('%s', (_, data) => {
    expect(deaggregate(data)).toBeUndefined();
  });

  it('an aggregate of which any single byte was changed', () => {
    const blob = aggregate(three);
    expect(deaggregate(blob)).toHaveLength(3);
    for (let at = 0; at < blob.length; at += 1) {
      const damaged = blob.slice();
      damaged[at] = damaged[at]! ^ 0x01;
      expect(deaggregate(damaged), `byte ${at}`).toBeUndefined();
    }
  });

  it('an aggregate that was cut off anywhere', () => {
    const blob = aggregate(three);
    for (let length = 0; length < blob.length; length += 1) {
      expect(deaggregate(blob.subarray(0, length)), `${length} bytes`).toBeUndefined();
    }
  });
});
