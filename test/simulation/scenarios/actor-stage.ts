import { seededRandom } from '../../../shared/core/random.ts';
import type { OperatorCalls } from '../../../shared/ports/operator-calls.ts';
import type { System } from '../../../shared/ports/system.ts';
import { noDeadline } from '../../../shared/runtime/deadline.ts';
import { describeOperator } from '../../../shared/runtime/describe-operator.ts';
import { createGate, type StepOwner } from '../engine/gate.ts';
import type { DrawFault } from '../engine/gated-ports.ts';
import { noAnswer, type Process, type Processes } from '../engine/processes.ts';
import type { WorkflowStage } from '../system/actors/workflows.ts';
import { gateManagerPorts } from '../system/gated-managers.ts';
import { gateSystem } from '../system/stage.ts';
import { operatorOf, visit, type Code, type SystemWorld } from '../system/system-world.ts';

/** What all actors of a play share. */
export interface Troupe {
  readonly world: SystemWorld;
  /** Every call of all of them, in order. */
  readonly trace: string[];
  /** The code that is deployed at this moment. */
  code(): Code;
}

/** The processes of one actor, each called by its own name behind that of who has called it. */
export interface Cast {
  begin(as: string, onLost: () => void): Process;
  /** A process of a kind, which another one may have called. */
  beginNext(kind: string, onLost: () => void, caller?: string): Process;
  end(process: Process): void;
  find(owner: string): Process;
  isAsleep(owner: string): boolean;
  /** Gives it up; what it does and has called is its own business from now on. */
  putToSleep(process: Process): {
    readonly isMine: (owner: string) => boolean;
    readonly isOver: () => boolean;
  };
}

export function createCast(name: string): Cast {
  const there = new Map<string, Process>();
  const asleep = new Set<string>();
  let begun = 0;
  const isBelow = (root: string, owner: string): boolean =>
    owner === root || owner.startsWith(`${root}.`);
  const begin: Cast['begin'] = (as, onLost) => {
    const process = { owner: { name: as, isDead: false }, onLost };
    there.set(as, process);
    return process;
  };
  return {
    begin,
    beginNext(kind, onLost, caller = name) {
      begun += 1;
      return begin(`${caller}.${kind}${begun}`, onLost);
    },
    end: ({ owner }) => void there.delete(owner.name),
    find(owner) {
      const process = there.get(owner);
      if (process !== undefined) return process;
      throw new Error(`${owner} is no process that could die`);
    },
    isAsleep: (owner) => [...asleep].some((root) => isBelow(root, owner)),
    putToSleep({ owner, onLost }) {
      asleep.add(owner.name);
      onLost();
      return {
        isMine: (other) => isBelow(owner.name, other),
        isOver: () => !there.has(owner.name),
      };
    },
  };
}

/** What the processes of one actor share. */
export interface ActorStage extends WorkflowStage {
  readonly draw: DrawFault;
  readonly processes: Pick<Processes, 'begin' | 'end' | 'kill'>;
}

/** A stage of one actor alone, so that its gate holds nobody else; nothing goes wrong on it by chance. */
export function createActorStage({ world, code }: Troupe, cast: Cast, draw: DrawFault): ActorStage {
  const gate = createGate();
  const systemOf = (owner: StepOwner): System => gateSystem(world.system, gate, owner, 0);
  const visits =
    (caller: Process): OperatorCalls['visit'] =>
    (_, order) =>
      new Promise((resolve, reject) => {
        const onLost = (): void => reject(noAnswer('the operator'));
        const called = cast.beginNext('V', onLost, caller.owner.name);
        const { owner } = called;
        const options = { order, draw, unitRecordsMax: 10, system: systemOf(owner) };
        visit(world, gate, owner, code(), options)
          .then(resolve, reject)
          .finally(() => cast.end(called));
      });
  return {
    ...{ world, gate, draw, random: seededRandom('quiet') },
    processes: {
      begin: (kind, onLost) => cast.beginNext(kind, onLost),
      end: cast.end,
      kill(process) {
        process.owner.isDead = true;
        cast.end(process);
        process.onLost();
      },
    },
    portsOf: (process) =>
      gateManagerPorts(world, gate, {
        ...{ owner: process.owner, draw, visit: visits(process) },
        describe: () => describeOperator(operatorOf(world, code())),
        system: systemOf(process.owner),
      }),
    drawDeadline: () => noDeadline,
  };
}
