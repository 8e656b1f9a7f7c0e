import type { SeededRandom } from '../seeded-random.ts';
import { readDefinition } from './definition-reader.ts';
import { startExecution, type Execution, type ExecutionHost } from './execution.ts';
import type { FunctionCheck } from './task-resource.ts';

/** A state machine of the stack and all that it has run. */
export interface StateMachine {
  readonly arn: string;
  readonly name: string;
  readonly roleArn: string;
  /** The definition as text. */
  readonly definition: string;
  readonly createdMs: number;
  /** By name, in the order of their start. */
  readonly executions: ReadonlyMap<string, Execution>;
  /** `input` is JSON. The caller has seen that the name is not taken. */
  start(name: string, input: string): Execution;
}

export interface StateMachineSettings {
  readonly name: string;
  readonly roleArn: string;
  readonly definition: string;
}

/** Every state machine of the stack. */
export interface StateMachines {
  /** Throws DefinitionError with all that is wrong in the definition. */
  create(settings: StateMachineSettings): StateMachine;
  list(): readonly StateMachine[];
  find(arn: string): StateMachine | undefined;
  /** Aborts all executions and waits until they are still; none starts afterwards. */
  stop(): Promise<void>;
}

export interface StateMachinesHost extends ExecutionHost {
  readonly accountId: string;
  readonly hasFunction: FunctionCheck;
  readonly random: SeededRandom;
}

export function createStateMachines(host: StateMachinesHost): StateMachines {
  const machines = new Map<string, StateMachine>();
  let isStopped = false;
  const arnOf = (resource: string): string =>
    `arn:aws:states:${host.region}:${host.accountId}:${resource}`;

  return {
    create({ name, roleArn, definition: text }) {
      const definition = readDefinition(text, host.hasFunction);
      const arn = arnOf(`stateMachine:${name}`);
      const executions = new Map<string, Execution>();
      const machine: StateMachine = {
        arn,
        name,
        roleArn,
        definition: text,
        createdMs: host.nowMs(),
        executions,
        start(executionName, input) {
          if (isStopped) throw new Error('the local AWS is stopping');
          const execution = startExecution(
            {
              arn: arnOf(`execution:${name}:${executionName}`),
              name: executionName,
              input,
              machine: { arn, name, roleArn, definition },
              random: host.random.fork(`execution ${name}/${executionName}`),
            },
            { ...host, log: (line) => host.log(`[${name}] ${line}`) },
          );
          executions.set(executionName, execution);
          return execution;
        },
      };
      machines.set(arn, machine);
      return machine;
    },
    list: () => [...machines.values()],
    find: (arn) => machines.get(arn),
    async stop() {
      isStopped = true;
      const executions = [...machines.values()].flatMap(({ executions: all }) => [...all.values()]);
      for (const execution of executions) execution.stop({ cause: 'the local AWS has stopped' });
      await Promise.all(executions.map(({ settled }) => settled));
    },
  };
}
