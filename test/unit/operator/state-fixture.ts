import * as z from 'zod';
import { createHandles, emptyStates, type LiveStates } from '../../../shared/operator/key-state.ts';
import { defineOperator, type Operator } from '../../../shared/operator/operator.ts';
import type { StateDescriptors, StateHandles } from '../../../shared/operator/state.ts';

/** An operator that only declares states. */
export function operatorWith(state: StateDescriptors): Operator {
  return defineOperator({
    id: 'stateful',
    schema: z.unknown(),
    key: () => 'k',
    state,
    process: () => undefined,
  });
}

export interface KeyStates<States> {
  readonly operator: Operator;
  /** The slots behind the handles. */
  readonly live: LiveStates;
  readonly state: StateHandles<States>;
}

/** The handles of one key's states over slots that a test can look at. */
export function openStates<States extends StateDescriptors>(
  descriptors: States,
  live?: LiveStates,
): KeyStates<States> {
  const operator = operatorWith(descriptors);
  const cursor = { live: live ?? emptyStates(operator) };
  const state = createHandles(operator, cursor) as StateHandles<States>;
  return { operator, live: cursor.live, state };
}
