import { createMemoryObjectStore } from '../../../../shared/adapters/memory/memory-object-store.ts';
import type { CheckpointSettings } from '../../../../shared/core/coordination.ts';
import type { CheckpointFigures } from '../../../../shared/ports/checkpoint-metrics.ts';
import { readRegistry } from '../../../../shared/runtime/checkpoint/change-registry.ts';
import {
  runCoordinator,
  type CoordinatorPorts,
  type CoordinatorReport,
} from '../../../../shared/runtime/checkpoint/run-coordinator.ts';
import { deadlineAt } from '../../../../shared/runtime/deadline.ts';
import type { JobOptions } from '../job-fixture.ts';
import { createRestorableJob } from '../restore/restorable-job.ts';

export const minuteMs = 60_000;

export const settings: CheckpointSettings = {
  intervalMs: minuteMs,
  timeoutMs: 10 * minuteMs,
  minPauseMs: 0,
  maxConcurrent: 1,
  tolerableFailures: 0,
  retained: 5,
};

export interface TickOptions {
  readonly settings?: Partial<CheckpointSettings>;
  readonly ports?: Partial<CoordinatorPorts>;
  /** Called with the number of each port call, from 1, before it is made and after it is answered. */
  readonly onCall?: (call: number, when: 'before' | 'after') => void | Promise<void>;
}

/** A job in memory with a coordinator whose ticks can be killed, or stopped, at each of their calls. */
export async function createCoordinatedJob(options: JobOptions = {}) {
  const restorable = await createRestorableJob(options);
  const { job, ports } = restorable;
  const figures: CheckpointFigures[] = [];
  const backup = createMemoryObjectStore();
  const stores: CoordinatorPorts = {
    ...ports,
    metrics: { publish: (some) => void figures.push(some) },
    backup,
  };
  const tick = (tickOptions: TickOptions = {}): Promise<CoordinatorReport> => {
    const all = { ...stores, ...tickOptions.ports };
    return runCoordinator(
      watch(all, tickOptions.onCall),
      { ...settings, ...tickOptions.settings },
      deadlineAt(job.system, job.system.now() + 55_000),
    );
  };
  return {
    ...restorable,
    coordinator: stores,
    figures,
    backup,
    registry: () => readRegistry(ports),
    tick,
    /**
     * Kills a tick at its call number `at`; none of its calls is made or answered from then on.
     *
     * @returns false where the tick was over before
     */
    async killAt(
      at: number,
      when: 'before' | 'after',
      tickOptions: TickOptions = {},
    ): Promise<boolean> {
      const death = Promise.withResolvers<'died'>();
      let isDead = false;
      const life = tick({
        ...tickOptions,
        onCall(call, moment) {
          if (call === at && moment === when) {
            isDead = true;
            death.resolve('died');
          }
          return isDead ? new Promise<never>(() => undefined) : undefined;
        },
      });
      return (await Promise.race([life, death.promise])) === 'died';
    },
  };
}

/** Lets every call of a port be seen before and after it. */
function watch(ports: CoordinatorPorts, onCall: TickOptions['onCall']): CoordinatorPorts {
  if (onCall === undefined) return ports;
  let calls = 0;
  const watched = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(object, property, receiver) {
        const value: unknown = Reflect.get(object, property, receiver);
        if (typeof value !== 'function') return value;
        // A listing is awaited page by page; what is done with it is seen.
        if (property === 'list') return value.bind(object) as unknown;
        return async (...args: unknown[]): Promise<unknown> => {
          calls += 1;
          const call = calls;
          await onCall(call, 'before');
          const result: unknown = await Reflect.apply(value, object, args);
          await onCall(call, 'after');
          return result;
        };
      },
    });
  return {
    ...ports,
    control: watched(ports.control),
    objects: watched(ports.objects),
    calls: watched(ports.calls),
    ...(ports.backup === undefined ? {} : { backup: watched(ports.backup) }),
  };
}
