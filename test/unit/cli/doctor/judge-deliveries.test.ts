import { describe, expect, it } from 'vitest';
import {
  acceptedNumbers,
  judgeArrival,
  judgeHandBack,
  judgeOrder,
  judgeParentFirst,
  judgeThrow,
} from '../../../../cli/doctor/lambda/judge-deliveries.ts';
import type { Delivery, DeliveryEnd } from '../../../../cli/doctor/lambda/witness-orders.ts';

const done: DeliveryEnd = { kind: 'done' };
const batch = (numbers: readonly number[], end: DeliveryEnd = done, shard = 'root'): Delivery => ({
  shard,
  numbers,
  end,
});
const handBack = (from: number): DeliveryEnd => ({ kind: 'handed-back', from });
const thrown: DeliveryEnd = { kind: 'thrown' };

/** What AWS does: the rest of a batch comes again, as does one at which the function throws. */
const sound = [
  batch([0, 1, 2, 3]),
  batch([4, 5, 6, 7], handBack(5)),
  batch([5, 6, 7, 8]),
  batch([9, 10], thrown),
  batch([9, 10]),
  batch([11]),
];

describe('deliveries as AWS makes them', () => {
  it('pass every judge', () => {
    expect(judgeHandBack(sound)).toEqual({ result: 'works' });
    expect(judgeThrow(sound)).toEqual({ result: 'works' });
    expect(judgeOrder(sound, 'root')).toEqual({ result: 'works' });
    const all = Array.from({ length: 12 }, (_, at) => at);
    expect(judgeArrival(sound, all, 'records')).toEqual({ result: 'works' });
    const withChild = [...sound, batch([100], done, 'child')];
    expect(judgeParentFirst(withChild, 'root', all)).toEqual({ result: 'works' });
  });

  it('may come twice and be cut otherwise', () => {
    const again = [...sound.slice(0, 1), batch([0, 1]), ...sound.slice(1)];
    expect(judgeOrder(again, 'root')).toEqual({ result: 'works' });
  });

  it('may bring back more than was handed back, which is told', () => {
    const whole = [batch([4, 5, 6, 7], handBack(5)), batch([4, 5, 6, 7])];
    expect(judgeHandBack(whole)).toMatchObject({
      result: 'works',
      note: expect.stringContaining('from 4 on') as string,
    });
  });
});

describe('gaps of a mapping', () => {
  it('a lost hand-back is noticed, followed by other records or by none', () => {
    const lost = [batch([4, 5, 6, 7], handBack(5)), batch([8, 9])];
    expect(judgeHandBack(lost)).toMatchObject({ result: 'differs', got: 'a batch from 8' });
    expect(judgeHandBack(lost.slice(0, 1))).toMatchObject({ result: 'differs', got: 'nothing' });
  });

  it('records of another shard do not stand for what was handed back', () => {
    const other = [batch([4, 5], handBack(5)), batch([5], done, 'other')];
    expect(judgeHandBack(other)).toMatchObject({ result: 'differs', got: 'nothing' });
  });

  it('a batch that is not tried again after an error is noticed', () => {
    expect(judgeThrow([batch([0, 1], thrown), batch([2])])).toMatchObject({
      ...{ result: 'differs', got: 'a batch from 2' },
    });
    expect(judgeThrow([batch([0, 1], thrown), batch([1])])).toMatchObject({ result: 'differs' });
    expect(judgeThrow([batch([0, 1], thrown)])).toMatchObject({ result: 'differs' });
  });

  it('a gap between batches or within one is noticed', () => {
    expect(judgeOrder([batch([0, 1]), batch([3])], 'root')).toMatchObject({
      ...{ result: 'differs', expected: 'a batch from record 2 at the latest' },
    });
    expect(judgeOrder([batch([0, 2])], 'root')).toMatchObject({ result: 'differs', got: '0, 2' });
    expect(judgeOrder([batch([1, 0])], 'root')).toMatchObject({ result: 'differs' });
  });

  it('what was only delivered to be handed back or thrown at has not arrived', () => {
    const deliveries = [batch([0, 1, 2], handBack(1)), batch([3], thrown)];
    expect(acceptedNumbers(deliveries)).toEqual(new Set([0]));
    expect(judgeArrival(deliveries, [0, 1, 2, 3], 'records')).toEqual({
      ...{ result: 'differs', expected: 'records: 0, 1, 2, 3', got: 'all but 1, 2, 3' },
    });
    expect(judgeArrival([], [7], 'records')).toMatchObject({ got: 'none of them' });
  });

  it('a child before the last record of its parent is noticed', () => {
    const early = [batch([0]), batch([100], done, 'child'), batch([1])];
    expect(judgeParentFirst(early, 'root', [0, 1])).toMatchObject({
      ...{ result: 'differs', got: 'a child before 1 of the parent' },
    });
  });

  it('nothing is said where nothing came', () => {
    for (const finding of [
      ...[judgeHandBack([]), judgeThrow([]), judgeOrder([], 'root')],
      judgeParentFirst([batch([0])], 'root', [0]),
    ]) {
      expect(finding.result).toBe('untried');
    }
  });
});
