import type { Chaos } from '../chaos.ts';
import { resolveFunctionName } from '../lambda/function-name.ts';
import { invokeUnderChaos } from '../lambda/invoke-under-chaos.ts';
import type { LambdaFunction } from '../lambda/lambda-function.ts';
import type { SeededRandom } from '../seeded-random.ts';
import type { InvokeFunction } from './flow.ts';
import type { FunctionCheck } from './task-resource.ts';

/** The first guess of how long a function runs. */
const DURATION_MS = 50;

/** The functions of the stack as tasks see them: chaos may kill them while they run. */
export function createFunctionInvoker(
  functions: ReadonlyMap<string, LambdaFunction>,
  chaos: Chaos,
  random: SeededRandom,
): { readonly hasFunction: FunctionCheck; readonly invoke: InvokeFunction } {
  /** A running mean for each function: the moment of a kill is drawn from about the life of an invocation. */
  const durationsMs = new Map<LambdaFunction, number>();
  const run = async (target: LambdaFunction, payload: string) => {
    const beganAtMs = performance.now();
    const durationMs = durationsMs.get(target) ?? DURATION_MS;
    const dice = { chaos, random, durationMs };
    const result = await invokeUnderChaos((options) => target.invoke(payload, options), dice);
    durationsMs.set(target, (durationMs + performance.now() - beganAtMs) / 2);
    return result;
  };
  const find = (name: string): LambdaFunction | undefined =>
    resolveFunctionName(functions.values(), name);
  return {
    hasFunction: (name) => find(name) !== undefined,
    invoke(name, payload) {
      const target = find(name);
      return target === undefined ? undefined : run(target, payload);
    },
  };
}
