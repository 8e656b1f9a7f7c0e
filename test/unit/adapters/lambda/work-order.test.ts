import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeWorkAnswer,
  decodeWorkOrder,
  encodeWorkAnswer,
  encodeWorkFailure,
  encodeWorkOrder,
  isWorkOrder,
} from '../../../../shared/adapters/lambda/work-order.ts';
import { HoldfastError } from '../../../../shared/core/errors.ts';
import type {
  VisitGoal,
  VisitOrder,
  VisitReport,
} from '../../../../shared/ports/operator-calls.ts';
import { anyPosition } from '../../../property/arbitrary-progress.ts';

/** Through JSON, as an invocation takes it. */
const send = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;

const goal: fc.Arbitrary<VisitGoal> = fc.oneof(
  fc.constantFrom<VisitGoal>({ kind: 'tip' }, { kind: 'end' }),
  fc.record({ kind: fc.constant('position' as const), position: anyPosition }),
);
const order: fc.Arbitrary<VisitOrder> = fc.record(
  {
    shardId: fc.string({ minLength: 1 }),
    goal,
    hold: fc.string({ minLength: 1 }),
    acceptsGaps: fc.boolean(),
  },
  { requiredKeys: ['shardId', 'goal'] },
);
const report: fc.Arbitrary<VisitReport> = fc.record({
  isThere: fc.boolean(),
  reason: fc.string(),
  isStuck: fc.boolean(),
  position: fc.option(anyPosition, { nil: undefined }),
  isFinished: fc.boolean(),
  records: fc.nat(),
});

describe('a work order', () => {
  it('is read as it was written, positions of any size included', () => {
    fc.assert(
      fc.property(order, (some) => {
        const sent = send(encodeWorkOrder({ kind: 'visit', order: some }));
        expect(isWorkOrder(sent)).toBe(true);
        expect(decodeWorkOrder(sent)).toEqual({ kind: 'visit', order: some });
      }),
    );
    expect(decodeWorkOrder(send(encodeWorkOrder({ kind: 'describe' })))).toEqual({
      kind: 'describe',
    });
  });

  it('is not taken for a batch of records, nor a batch for it', () => {
    for (const other of [undefined, null, 'holdfast', { Records: [] }]) {
      expect(isWorkOrder(other)).toBe(false);
    }
  });

  it.each([
    ['another kind of work', { holdfast: 'dance' }],
    ['a field of another version', { holdfast: 'describe', deeply: true }],
    ['no shard', { holdfast: 'visit', goal: { kind: 'tip' } }],
    ['another goal', { holdfast: 'visit', shardId: 's', goal: { kind: 'moon' } }],
    [
      'a position that is none',
      { holdfast: 'visit', shardId: 's', goal: { kind: 'position', position: 'x' } },
    ],
    ['an empty hold', { holdfast: 'visit', shardId: 's', goal: { kind: 'tip' }, hold: '' }],
  ])('with %s is refused', (_, event) => {
    expect(() => decodeWorkOrder(event)).toThrow(
      expect.objectContaining({
        kind: 'invalid',
        message: expect.stringMatching(
          /^an operator cannot read its work order: .*same version$/,
        ) as string,
      }),
    );
  });
});

describe('the answer to a work order', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(report, (some) => {
        const answer = { kind: 'report', report: some } as const;
        expect(decodeWorkAnswer(send(encodeWorkAnswer(answer)), 'tally')).toEqual(answer);
      }),
    );
  });

  it('brings what was thrown to the caller, with its kind', () => {
    const sent = send(encodeWorkFailure(new HoldfastError('fenced', 'the job is held')));
    expect(() => decodeWorkAnswer(sent, 'tally')).toThrow(
      new HoldfastError('fenced', 'operator tally: the job is held'),
    );
    try {
      decodeWorkAnswer(sent, 'tally');
    } catch (thrown) {
      expect(thrown).toMatchObject({ kind: 'fenced' });
    }
  });

  it('that nobody can read is refused', () => {
    expect(() => decodeWorkAnswer({ batchItemFailures: [] }, 'tally')).toThrow(
      /^cannot read what operator tally has answered to a work order/,
    );
  });
});
