import { runStep } from '../../../shared/composition/aws/step-handler.ts';
import type { RestorePorts } from '../../../shared/runtime/restore/restore-order.ts';
import { readWorkflows } from '../../infra/workflow-definition.ts';
import { errorNamed, run } from '../embedded/step-functions/memory-machine.ts';
import { Death, makeMortal } from '../../unit/runtime/restore/mortal-ports.ts';
import type { JsonValue } from '../../../localstack/embedded/step-functions/json-value.ts';

const workflows = readWorkflows();

/** What befalls the function of the steps. */
export interface Mishaps {
  /** Its process dies at this call of a port, counted over the whole execution; then it is started anew. */
  readonly diesAt?: number;
  readonly moment?: 'before' | 'after';
  /** Called before each step; what it throws is what the step throws. */
  readonly onStep?: (step: string) => void | Promise<void>;
  /** Called behind each step; what it throws is what the workflow hears of the step that is done. */
  readonly onDone?: (step: string) => void;
  /** How much time each call of a step has, ms. */
  readonly remainingMs?: () => number;
}

export interface MemoryExecution {
  readonly status: string;
  readonly output: Readonly<Record<string, unknown>>;
  readonly cause: string | undefined;
  /** The steps that were called, in order, with those that failed. */
  readonly steps: readonly string[];
  readonly hasDied: boolean;
}

/** Runs a workflow as it is deployed, over ports in memory. */
export async function runWorkflow(
  which: keyof typeof workflows,
  ports: RestorePorts,
  input: JsonValue,
  mishaps: Mishaps = {},
): Promise<MemoryExecution> {
  const { diesAt = Infinity, moment = 'before', onStep, onDone } = mishaps;
  const remainingMs = mishaps.remainingMs ?? (() => 240_000);
  const mortal = makeMortal(ports, diesAt, moment);
  const steps: string[] = [];
  let hasDied = false;
  const execution = await run(workflows[which], input, {
    functions: {
      async steps(payload) {
        const { step } = payload as { readonly step: string };
        steps.push(step);
        await onStep?.(step);
        const living = hasDied ? ports : mortal.ports;
        try {
          const result = await runStep(living, payload, { remainingMs });
          onDone?.(step);
          return result;
        } catch (thrown) {
          if (!(thrown instanceof Death)) throw thrown;
          hasDied = true;
          throw errorNamed('Runtime.ExitError');
        }
      },
    },
  });
  const { status, output, cause } = execution.state();
  return {
    ...{ status, cause, steps, hasDied },
    output: JSON.parse(output ?? '{}') as Record<string, unknown>,
  };
}
