import type { OperatorContract } from '../core/manifest.ts';
import type { Operator } from '../operator/operator.ts';

/** What of an operator is a contract: a savepoint refers to it by name, and restore compares it. */
export function describeOperator(operator: Operator): OperatorContract {
  return {
    id: operator.id,
    states: operator.stateNames.map((name, at) => {
      const { kind, version } = operator.states[at]!;
      return { name, kind, version };
    }),
    sinks: [...operator.sinks].map(([name, { kind }]) => ({ name, kind })),
    timeRules: operator.timeRules,
  };
}
