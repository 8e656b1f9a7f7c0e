import {
  decodeWorkOrder,
  encodeWorkAnswer,
  encodeWorkFailure,
  type EncodedWork,
} from '../../adapters/lambda/work-order.ts';
import { HoldfastError } from '../../core/errors.ts';
import type { VisitOrder } from '../../ports/operator-calls.ts';
import type { Deadline } from '../../runtime/deadline.ts';
import { describeOperator } from '../../runtime/describe-operator.ts';
import {
  createEnvironmentMemory,
  type EnvironmentMemory,
} from '../../runtime/environment-memory.ts';
import type { OperatorRuntime } from '../../runtime/operator-runtime.ts';
import { visitChannel } from '../../runtime/visit-channel.ts';

/** Answers a work order; what Holdfast itself throws becomes part of the answer, with its kind. */
export type AnswerWorkOrder = (event: unknown, deadline: Deadline) => Promise<EncodedWork>;

/** Answers the work orders of an operator's function: see `adapters/lambda/work-order`. */
export function createWorkOrders(runtime: OperatorRuntime): AnswerWorkOrder {
  /** What was learned under a hold holds for it alone: a replay works in a generation that nobody else writes to yet. */
  let held: { readonly hold: string; readonly memory: EnvironmentMemory } | undefined;

  const runtimeFor = ({ hold, acceptsGaps = false }: VisitOrder): OperatorRuntime => {
    if (hold === undefined) return { ...runtime, acceptsGaps };
    if (held?.hold !== hold) held = { hold, memory: createEnvironmentMemory() };
    return { ...runtime, hold, acceptsGaps, memory: held.memory };
  };

  return async (event, deadline) => {
    try {
      const work = decodeWorkOrder(event);
      if (work.kind === 'describe') {
        return encodeWorkAnswer({ kind: 'contract', contract: describeOperator(runtime.operator) });
      }
      const { shardId, goal } = work.order;
      const report = await visitChannel(runtimeFor(work.order), shardId, goal, deadline);
      return encodeWorkAnswer({ kind: 'report', report });
    } catch (thrown) {
      if (thrown instanceof HoldfastError) return encodeWorkFailure(thrown);
      throw thrown;
    }
  };
}
