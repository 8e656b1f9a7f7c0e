import { setTimeout as sleep } from 'node:timers/promises';

import type { Chaos } from '../chaos.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { startEnvironment, type Environment, type EnvironmentOptions } from './environment.ts';

const SLOW_START_MS_MAX = 500;

/** The environments of one function. */
export interface EnvironmentPool {
  /** A warm one if there is any, else a new one that may still have to initialize. */
  acquire(): Promise<Environment>;
  /** Gives back one that can take another invocation. One that is dead is forgotten. */
  release(environment: Environment): void;
  /** SIGKILL for all, busy or idle; returns how many lived. */
  kill(): number;
  coldStarts(): number;
  pids(): number[];
  /** Kills all, waits until they are gone; what starts meanwhile is killed, too. */
  stop(): Promise<void>;
}

export interface EnvironmentPoolOptions extends EnvironmentOptions {
  readonly random: SeededRandom;
  readonly chaos: Chaos;
}

export function createEnvironmentPool(options: EnvironmentPoolOptions): EnvironmentPool {
  const { random, chaos } = options;
  const stopping = new AbortController();
  const environments = new Set<Environment>();
  const idle = new Set<Environment>();
  const starts = new Set<Promise<Environment>>();
  let coldStarts = 0;

  const start = async (): Promise<Environment> => {
    coldStarts += 1;
    if (chaos.strikes('slowStart', random)) {
      const delayMs = random.integerBelow(SLOW_START_MS_MAX);
      await sleep(delayMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
    const environment = await startEnvironment(options);
    environments.add(environment);
    void environment.exited.then(() => {
      environments.delete(environment);
      idle.delete(environment);
    });
    return environment;
  };

  const killAll = (): number => {
    const alive = [...environments].filter((environment) => environment.isAlive());
    for (const environment of alive) environment.kill();
    return alive.length;
  };

  return {
    async acquire() {
      const warm = [...idle].filter((environment) => environment.isAlive());
      if (warm.length > 0) {
        // Lambda promises no affinity: a shard's next batch may meet any warm environment.
        const environment = random.pick(warm);
        idle.delete(environment);
        return environment;
      }
      const starting = start();
      starts.add(starting);
      return starting.finally(() => starts.delete(starting));
    },
    release(environment) {
      if (environment.isAlive()) idle.add(environment);
    },
    kill: killAll,
    coldStarts: () => coldStarts,
    pids: () => [...environments].flatMap((environment) => environment.pid ?? []),
    async stop() {
      stopping.abort();
      await Promise.allSettled(starts);
      const leaving = [...environments];
      killAll();
      await Promise.all(leaving.map((environment) => environment.exited));
    },
  };
}
