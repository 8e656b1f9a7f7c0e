import { expect, it } from 'vitest';
import { pack } from '../../../shared/core/pack.ts';
import { decodeStates } from '../../../shared/operator/key-state.ts';
import { listState } from '../../../shared/operator/state.ts';
import { openStates, operatorWith } from './state-fixture.ts';

it('keeps only the newest elements of a list that was stored while keepLast was higher', () => {
  const last = listState<number>({ keepLast: 2 });
  const live = decodeStates(operatorWith({ last }), pack({ last: [1, [1, 2, 3, 4, 5]] }), 'k');
  const { state } = openStates({ last }, live);
  state.last.add(6);
  expect(state.last.get()).toEqual([5, 6]);
});
