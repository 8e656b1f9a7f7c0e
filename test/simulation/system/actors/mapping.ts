import { createEnvironment, type Environment } from '../../data-path/deployment.ts';
import { chance, pick } from '../../engine/gate.ts';
import type { Process } from '../../engine/processes.ts';
import type { Stage } from '../stage.ts';
import { deliver, type Code } from '../system-world.ts';

/** One shard as the event source mapping sees it. */
interface Poller {
  readonly shardId: string;
  /** How many of its records the mapping takes for done. */
  done: number;
  current: Process | undefined;
}

type CodeEnvironment = Environment & Code;

function openEnvironment(name: string, { flavour, version }: Code): CodeEnvironment {
  return { ...createEnvironment(name, flavour), version };
}

/**
 * The event source mapping with every freedom that AWS leaves it: batches cut anew, delivered again, beside one that it has given
 * up; children before their parents; and, made anew while a job is held, beginning wherever it likes.
 */
export interface Mapping {
  /** Begins deliveries; true where it has begun one. */
  goOn(mustBegin: boolean): boolean;
  /** From now on environments run the code that is deployed. */
  deploy(): void;
}

export function createMapping(stage: Stage): Mapping {
  const { world, plan, random, gate, processes, draw } = stage;
  const pollers = new Map<string, Poller>();
  const busy = new Set<CodeEnvironment>();
  let environments: CodeEnvironment[] = [];
  const deploy = (): void => {
    environments = Array.from({ length: plan.environments }, (_, at) =>
      openEnvironment(`e${at}${stage.code().flavour}`, stage.code()),
    );
  };
  deploy();

  const pollerOf = (shardId: string): Poller => {
    const known = pollers.get(shardId) ?? { shardId, done: 0, current: undefined };
    pollers.set(shardId, known);
    return known;
  };
  const unread = (): Poller[] =>
    world.stream
      .shards()
      .map(({ shardId }) => pollerOf(shardId))
      .filter(({ shardId, done }) => done < world.stream.shard(shardId).records.length);

  const start = (poller: Poller): boolean => {
    const idle = environments.filter((environment) => !busy.has(environment));
    const environment = idle[pick(random, idle.length)];
    if (environment === undefined) return false;
    const { shardId } = poller;
    const { records } = world.stream.shard(shardId);
    const from = poller.done - (chance(random, 0.3) ? pick(random, poller.done + 1) : 0);
    const to = poller.done + 1 + pick(random, records.length - poller.done);
    const process = processes.begin('#', () => {
      // It is not used again; whoever sleeps keeps it for itself.
      environments = environments.map((one) =>
        one === environment ? openEnvironment(`${one.name}'`, one) : one,
      );
      if (poller.current === process) poller.current = undefined;
    });
    poller.current = process;
    busy.add(environment);
    const { owner } = process;
    deliver(world, gate, owner, environment, {
      ...{ shardId, records: records.slice(from, to), draw, system: stage.systemOf(owner) },
      ...stage.drawDeadline(),
      unitRecordsMax: 1 + pick(random, 4),
    })
      .then((outcome) => {
        if (poller.current !== process) return;
        const at =
          outcome.kind === 'done'
            ? to
            : records.findIndex(({ sequence }) => sequence === outcome.fromSequence);
        // What was handed back comes again, though it was delivered once before.
        poller.done = at;
      })
      .catch((thrown: unknown) => stage.judge(owner.name, thrown))
      .finally(() => {
        processes.end(process);
        busy.delete(environment);
        if (poller.current === process) poller.current = undefined;
      });
    return true;
  };

  /** The mapping is made anew while everything is fenced (R7). */
  const maybeJump = (): void => {
    if (world.present().hold?.undo === undefined || !chance(random, plan.jumpProbability)) return;
    // It takes a while, so that nothing is warm any more.
    environments = environments.map((one) => openEnvironment(`${one.name}'`, one));
    for (const poller of unread()) {
      const { records } = world.stream.shard(poller.shardId);
      poller.done += pick(random, records.length - poller.done + 1);
    }
  };

  /** A held job hands back all the same: so that a run comes to its end, that is not all that it does. */
  const may = (poller: Poller, isHeld: boolean, mustBegin: boolean): boolean => {
    if (poller.current !== undefined) return chance(random, plan.overlapProbability);
    return (mustBegin && !isHeld) || chance(random, isHeld ? 0.02 : 0.3);
  };

  return {
    deploy,
    goOn(mustBegin) {
      maybeJump();
      const isHeld = world.present().hold !== undefined;
      let hasBegun = false;
      for (const poller of unread()) {
        if (may(poller, isHeld, mustBegin) && start(poller)) hasBegun = true;
      }
      return hasBegun;
    },
  };
}
