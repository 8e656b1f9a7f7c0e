import { differs, works, type Finding } from '../finding.ts';
import type { Delivery } from './witness-orders.ts';

/*
 * What the batches that the witness got, in order, say about the mapping that delivered them. Whatever AWS may do is fine: come
 * twice, be cut otherwise.
 */

/** The records that were delivered and not handed back: what a runtime that trusts its mapping has seen. */
export function acceptedNumbers(deliveries: readonly Delivery[]): Set<number> {
  const accepted = new Set<number>();
  for (const { numbers, end } of deliveries) {
    if (end.kind === 'thrown') continue;
    for (const number of numbers) {
      if (end.kind === 'handed-back' && number >= end.from) continue;
      accepted.add(number);
    }
  }
  return accepted;
}

/** @param what of the records, for people */
export function judgeArrival(
  deliveries: readonly Delivery[],
  numbers: readonly number[],
  what: string,
): Finding {
  const accepted = acceptedNumbers(deliveries);
  const lost = numbers.filter((number) => !accepted.has(number));
  if (lost.length === 0) return works;
  const got = lost.length === numbers.length ? 'none of them' : `all but ${lost.join(', ')}`;
  return differs(`${what}: ${listNumbers(numbers)}`, got);
}

/** What was handed back comes again, from there or from further before. */
export function judgeHandBack(deliveries: readonly Delivery[]): Finding {
  const at = deliveries.findIndex(({ end }) => end.kind === 'handed-back');
  const { end, shard } = deliveries[at] ?? {};
  if (end?.kind !== 'handed-back') return nothingCame('to hand back');
  const next = deliveries.slice(at + 1).find((delivery) => delivery.shard === shard);
  const expected = `a batch from record ${end.from}, which was handed back`;
  if (next === undefined) return differs(expected, '');
  const [first = Infinity] = next.numbers;
  if (first > end.from) return differs(expected, `a batch from ${first}`);
  return first === end.from
    ? works
    : { result: 'works', note: `from ${first} on: more than was handed back, which does no harm` };
}

export function judgeThrow(deliveries: readonly Delivery[]): Finding {
  const at = deliveries.findIndex(({ end }) => end.kind === 'thrown');
  const thrown = deliveries[at];
  if (thrown === undefined) return nothingCame('to throw at');
  const [start = 0] = thrown.numbers;
  const next = deliveries.slice(at + 1).find(({ shard }) => shard === thrown.shard);
  const expected = `a batch from record ${start}, at which it has thrown`;
  const first = next?.numbers[0];
  if (first === undefined) return differs(expected, '');
  return first <= start ? works : differs(expected, `a batch from ${first}`);
}

/**
 * Within a shard a batch goes on where the one before has ended, or comes from before that. What comes after a batch that was not
 * done is for the other judges.
 */
export function judgeOrder(deliveries: readonly Delivery[], shard: string): Finding {
  const own = deliveries.filter((delivery) => delivery.shard === shard);
  if (own.length === 0) return nothingCame('to look at');
  let reached = 0;
  let mayJump = true;
  for (const { numbers, end } of own) {
    const [first = 0] = numbers;
    if (!numbers.every((number, index) => number === first + index)) {
      return differs('a batch in order, without gaps', listNumbers(numbers));
    }
    if (!mayJump && first > reached) {
      return differs(`a batch from record ${reached} at the latest`, `one from ${first}`);
    }
    mayJump = end.kind !== 'done';
    if (end.kind === 'done') reached = Math.max(reached, first + numbers.length);
  }
  return works;
}

/** No record of a child comes before all of its parent have come. */
export function judgeParentFirst(
  deliveries: readonly Delivery[],
  parent: string,
  parentNumbers: readonly number[],
): Finding {
  const firstChild = deliveries.findIndex(({ shard }) => shard !== parent);
  if (firstChild < 0) return nothingCame('from a child');
  const accepted = acceptedNumbers(deliveries.slice(0, firstChild));
  const open = parentNumbers.filter((number) => !accepted.has(number));
  return open.length === 0
    ? works
    : differs(
        'children when all of their parent has come',
        `a child before ${listNumbers(open)} of the parent`,
      );
}

function nothingCame(why: string): Finding {
  return { result: 'untried', why: `no batch came ${why}` };
}

function listNumbers(numbers: readonly number[]): string {
  return numbers.join(', ');
}
