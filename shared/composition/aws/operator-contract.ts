import {
  decodeWorkAnswer,
  encodeWorkOrder,
  type EncodedWork,
} from '../../adapters/lambda/work-order.ts';
import { HoldfastError } from '../../core/errors.ts';
import type { OperatorContract } from '../../core/manifest.ts';

/** What any copy of an operator's code is asked for its contract with; it needs neither tables nor a stream to answer. */
export function orderContract(): EncodedWork {
  return encodeWorkOrder({ kind: 'describe' });
}

/** @throws HoldfastError what the code threw, or `internal` for anything that is no contract */
export function readContract(answer: unknown, operator: string): OperatorContract {
  const decoded = decodeWorkAnswer(answer, operator);
  if (decoded.kind === 'contract') return decoded.contract;
  throw new HoldfastError('internal', `operator ${operator} answered with a ${decoded.kind}`);
}
