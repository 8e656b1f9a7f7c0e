import { isPassing } from '../../../shared/core/errors.ts';
import type { ChooseStep, StepChoice } from '../engine/gate.ts';
import type { DrawFault, WriteFault } from '../engine/gated-ports.ts';
import type { Process } from '../engine/processes.ts';
import { describe } from '../system/stage.ts';
import { createActorStage, createCast, type ActorStage, type Troupe } from './actor-stage.ts';

/**
 * Where somebody is: `before state.write k0`, or `after` it, where it has taken effect and its reply has not come; or `in` a step of
 * a workflow, before its first call. What a call is about may be left out, or be the end of it.
 */
export type Place = `${'before' | 'after' | 'in'} ${string}`;

/** A process, or a workflow with all its steps. It makes no call but when the script lets it. */
export interface Actor {
  readonly name: string;
  /** Lets it go on until it waits at a call; at which it waits already where it does. */
  until(place: Place): Promise<void>;
  /** Lets it go on to its end; says which it was: `done`, `SUCCEEDED`, or what went wrong. */
  goOn(): Promise<string>;
  /** The process that has come to its place is killed there; of a workflow that is a step, or whom a step has called. */
  die(): Promise<void>;
  /** The process that has come to its place is given up by all who wait for it, and goes on only where the script wakes it. */
  sleep(): Promise<Sleeper>;
  /** The next call of this kind takes effect, and its reply is lost. */
  loseReplyOf(call: string): void;
  /** The next call of this kind has no effect. */
  refuse(call: string): void;
}

/** A process that nobody counts on any more. */
export interface Sleeper {
  readonly name: string;
  until(place: Place): Promise<void>;
  /** Lets it go on to its end, of which nobody hears. */
  goOn(): Promise<void>;
}

/** An actor as the play has it. */
export interface Casting {
  readonly actor: Actor;
  readonly stage: ActorStage;
  /** What it throws and may not is a finding. */
  perform(work: (process: Process) => Promise<string>): void;
  /** Runs what makes processes of its own. */
  conduct(work: () => Promise<string>): void;
  readonly isOver: () => boolean;
  readonly sleepers: readonly Sleeper[];
  /** What was to go wrong with calls that it has never made. */
  readonly unspent: () => readonly string[];
}

/** Looks at an actor that makes no call and has not ended, before it is taken to wait for somebody else. */
const looksMax = 200;

/** Ends a drain of the gate with calls still waiting at it. */
class Halt extends Error {}

interface Mover {
  isMine(owner: string): boolean;
  isOver(): boolean;
  /** What becomes of the first of its calls that wait. */
  choose(labels: readonly string[]): StepChoice | 'halt';
}

export function createActor(name: string, troupe: Troupe): Casting {
  const cast = createCast(name);
  const faults: { readonly call: string; readonly fault: WriteFault }[] = [];
  const draw: DrawFault = (label) => {
    const at = faults.findIndex(({ call }) => isCall(label, call));
    return at < 0 ? 'none' : faults.splice(at, 1)[0]!.fault;
  };
  const stage = createActorStage(troupe, cast, draw);
  const sleepers: Sleeper[] = [];
  let outcome: string | undefined;
  /** Who has come to where it was let go on to. */
  let reached: string | undefined;

  const move = async (mover: Mover): Promise<void> => {
    const { gate } = stage;
    const from = gate.trace.length;
    let looks = 0;
    const isStuck = (): boolean => {
      if (mover.isOver()) return true;
      looks += 1;
      if (looks > looksMax) throw new Error(`${name} makes no call, and does not end`);
      return false;
    };
    const choose: ChooseStep = (labels) => {
      const mine = labels.filter((label) => mover.isMine(ownerOf(label)));
      if (mine.length === 0) {
        if (isStuck()) throw new Halt();
        return { index: -1, choice: 'proceed' };
      }
      looks = 0;
      const choice = mover.choose(mine);
      if (choice === 'halt') throw new Halt();
      const next = mine.find((label) => choice === 'kill' && ownerOf(label) === reached);
      return { index: labels.indexOf(next ?? mine[0]!), choice };
    };
    try {
      await gate.drain(choose, () => !isStuck());
    } catch (thrown) {
      if (!(thrown instanceof Halt)) throw thrown;
    } finally {
      troupe.trace.push(...gate.trace.slice(from));
    }
  };

  const until = async (mover: Omit<Mover, 'choose'>, place: Place): Promise<void> => {
    let there: string | undefined;
    const choose: Mover['choose'] = (labels) => {
      there = labels.find((label) => isAt(label, place, stage.gate.trace));
      return there === undefined ? 'proceed' : 'halt';
    };
    await move({ ...mover, choose });
    reached = there && ownerOf(there);
    if (there !== undefined) return;
    throw new Error(`${name} has ended, ${outcome}, and never came to ${place}`);
  };

  const proceed = (): StepChoice => 'proceed';
  const own: Omit<Mover, 'choose'> = {
    isMine: (owner) => !cast.isAsleep(owner),
    isOver: () => outcome !== undefined,
  };

  /** The process that has come to its place, or else makes the next call. */
  const findNext = async (choice: 'halt' | 'kill'): Promise<Process> => {
    let owner: string | undefined;
    await move({
      ...own,
      isOver: () => owner !== undefined || own.isOver(),
      choose: (labels) => {
        if (owner !== undefined) return 'halt';
        const owners = labels.map(ownerOf);
        owner = owners.find((one) => one === reached) ?? owners[0]!;
        return choice;
      },
    });
    if (owner === undefined) throw new Error(`${name} has ended already: ${outcome}`);
    return cast.find(owner);
  };

  const wait = (work: Promise<string>): Promise<void> =>
    work.then(
      (end) => void (outcome = end),
      (thrown: unknown) => {
        outcome = describe(thrown);
        if (!isPassing(thrown)) troupe.world.findings.push(`${name} threw ${outcome}`);
      },
    );

  const actor: Actor = {
    name,
    until: (place) => until(own, place),
    async goOn() {
      await move({ ...own, choose: proceed });
      return outcome!;
    },
    async die() {
      const process = await findNext('kill');
      stage.processes.kill(process);
    },
    async sleep() {
      const process = await findNext('halt');
      const mover = cast.putToSleep(process);
      const sleeper: Sleeper = {
        name: process.owner.name,
        until: (place) => until(mover, place),
        goOn: () => move({ ...mover, choose: proceed }),
      };
      sleepers.push(sleeper);
      return sleeper;
    },
    loseReplyOf: (call) => void faults.push({ call, fault: 'reply-lost' }),
    refuse: (call) => void faults.push({ call, fault: 'refused' }),
  };
  return {
    ...{ actor, stage, sleepers },
    perform(work) {
      const process = cast.begin(name, () => (outcome = 'died'));
      void wait(work(process)).finally(() => cast.end(process));
    },
    conduct: (work) => void wait(work()),
    isOver: own.isOver,
    unspent: () => faults.map(({ call, fault }) => `${name} has made no ${call} to be ${fault}`),
  };
}

function ownerOf(label: string): string {
  return label.split(' ', 1)[0]!;
}

/** @param trace tells which processes are which steps */
function isAt(label: string, place: Place, trace: readonly string[]): boolean {
  const owner = ownerOf(label);
  const [when, ...what] = place.split(' ');
  if (when === 'in') return trace.includes(`  ${owner} is ${what[0]}`);
  const own = `${owner} ${when} `;
  return label.startsWith(own) && isCall(label.slice(own.length), what.join(' '));
}

/** `state.write k0` is a `state.write`. */
function isCall(label: string, call: string): boolean {
  const [kind, about = ''] = call.split(' ');
  return label === call || (label.startsWith(`${kind} `) && label.endsWith(about));
}
