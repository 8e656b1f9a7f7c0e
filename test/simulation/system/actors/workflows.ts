import type { InvocationResult } from '../../../../localstack/embedded/lambda/invocation-result.ts';
import { seededRandom } from '../../../../localstack/embedded/seeded-random.ts';
import type { Execution } from '../../../../localstack/embedded/step-functions/execution.ts';
import type { JsonValue } from '../../../../localstack/embedded/step-functions/json-value.ts';
import { createStateMachines } from '../../../../localstack/embedded/step-functions/state-machines.ts';
import { runStep } from '../../../../shared/composition/aws/step-handler.ts';
import { STEP_ERROR_PREFIX } from '../../../../shared/config/workflow-steps.ts';
import { readWorkflows } from '../../../infra/workflow-definition.ts';
import { pick } from '../../engine/gate.ts';
import type { Process, Processes } from '../../engine/processes.ts';
import { describe, gateSystem, type Stage } from '../stage.ts';

export type WorkflowName = keyof ReturnType<typeof readWorkflows>;

/** The workflows as they are deployed; each of their steps is a process that can die, or sleep and wake up too late. */
export interface Workflows {
  start(which: WorkflowName, input: JsonValue): Execution;
  /** Calls the function of the steps, as the command line does. */
  ask(step: string, input: object): Promise<unknown>;
  stop(): Promise<void>;
}

/** What the workflows need of a stage. */
export interface WorkflowStage extends Pick<
  Stage,
  'world' | 'random' | 'gate' | 'portsOf' | 'drawDeadline'
> {
  readonly processes: Pick<Processes, 'begin' | 'end'>;
}

/** Synthesized once for all runs. */
let definitions: ReturnType<typeof readWorkflows> | undefined;

export function createWorkflows(stage: WorkflowStage): Workflows {
  definitions ??= readWorkflows();
  const { world, random, gate, processes } = stage;
  let executions = 0;
  const system = gateSystem(world.system, gate, { name: 'clock', isDead: false }, 0);

  const invoke = (payload: string): Promise<InvocationResult> =>
    new Promise((resolve) => {
      const failed = (errorType: string, errorMessage: string): InvocationResult => {
        const reason = 'function-error';
        return { kind: 'failed', reason, requestId: '', errorType, errorMessage, logTail: [] };
      };
      const process: Process = processes.begin('S', () =>
        resolve(failed('Sandbox.Timedout', 'the function does not answer')),
      );
      const event = JSON.parse(payload) as { readonly step: string };
      gate.trace.push(`  ${process.owner.name} is ${event.step}`);
      void runStep(stage.portsOf(process), event, stage.drawDeadline())
        .then(
          (result): InvocationResult => ({
            ...{ kind: 'success', requestId: '' },
            payload: JSON.stringify(result ?? null),
          }),
          (thrown: unknown): InvocationResult => {
            const { name, message } = thrown as Error;
            gate.trace.push(`  ${process.owner.name} throws ${name}: ${message}`);
            if (!name.startsWith(STEP_ERROR_PREFIX) || name === `${STEP_ERROR_PREFIX}internal`) {
              world.findings.push(`step ${event.step} threw ${describe(thrown)}`);
            }
            return failed(name, message);
          },
        )
        .then(resolve)
        .finally(() => processes.end(process));
    });

  const machines = createStateMachines({
    region: 'us-east-1',
    accountId: '000000000000',
    random: seededRandom(pick(random, 2 ** 32)),
    nowMs: () => system.now(),
    pause: (ms) => system.sleep(ms),
    log: (line) => void gate.trace.push(`  ${line}`),
    hasFunction: () => true,
    invoke: (_, payload) => invoke(payload),
  });
  const deployed = new Map(
    Object.entries(definitions).map(([name, definition]) => [
      name,
      machines.create({
        name,
        roleArn: `arn:aws:iam::000000000000:role/${name}`,
        definition: JSON.stringify(definition),
      }),
    ]),
  );
  return {
    start(which, input) {
      executions += 1;
      return deployed.get(which)!.start(`x${executions}`, JSON.stringify(input));
    },
    async ask(step, input) {
      const result = await invoke(JSON.stringify({ step, ...input }));
      if (result.kind === 'success') return JSON.parse(result.payload) as unknown;
      throw new Error(result.errorMessage);
    },
    stop: () => machines.stop(),
  };
}
