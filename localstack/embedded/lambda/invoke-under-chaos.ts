import type { Chaos } from '../chaos.ts';
import type { SeededRandom } from '../seeded-random.ts';
import type { InvocationResult } from './invocation-result.ts';
import type { InvokeOptions } from './lambda-function.ts';

/** Invokes, and kills the environment at some moment of the expected duration if chaos strikes. */
export async function invokeUnderChaos(
  invoke: (options: InvokeOptions) => Promise<InvocationResult>,
  dice: { readonly chaos: Chaos; readonly random: SeededRandom; readonly durationMs: number },
): Promise<InvocationResult> {
  const { chaos, random, durationMs } = dice;
  if (!chaos.strikes('killDuringInvocation', random)) return invoke({});
  let wasKilled = false;
  const result = await invoke({
    killAfterMs: random.next() * durationMs,
    onKilled: () => {
      wasKilled = true;
    },
  });
  // A kill that came too late does not count: a maximum means kills that hit.
  if (!wasKilled) chaos.takeBack('killDuringInvocation');
  return result;
}
