import type { StreamRecord } from '../../../shared/ports/shard-reader.ts';
import type { BatchOutcome } from '../../../shared/runtime/process-batch.ts';
import type { OperatorRuntime } from '../../../shared/runtime/operator-runtime.ts';
import type { Job } from './job-fixture.ts';

export interface MortalEnvironment {
  /** Ends the environment at this very moment: none of its calls is made or answered any more. */
  die(): void;
  /** The outcome, or `died`. */
  deliver(records: readonly StreamRecord[], shardId?: string): Promise<BatchOutcome | 'died'>;
}

/** An environment that can be killed at any point of an invocation, as a process can. */
export function createMortalEnvironment(
  job: Job,
  overrides: Partial<OperatorRuntime> = {},
): MortalEnvironment {
  let isDead = false;
  let announceDeath: (() => void) | undefined;
  const death = new Promise<'died'>((resolve) => {
    announceDeath = () => void resolve('died');
  });
  const never = new Promise<never>(() => undefined);

  const mortal = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(object, property, receiver) {
        const value: unknown = Reflect.get(object, property, receiver);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]): unknown => {
          if (isDead) return never;
          const result: unknown = Reflect.apply(value, object, args);
          if (!(result instanceof Promise)) return result;
          return result.then((answer: unknown) => (isDead ? never : answer));
        };
      },
    });

  const environment = job.createEnvironment({
    state: mortal(overrides.state ?? job.state),
    control: mortal(overrides.control ?? job.control),
    objects: mortal(overrides.objects ?? job.objects),
    sinks: new Map([...(overrides.sinks ?? job.sinks)].map(([name, sink]) => [name, mortal(sink)])),
  });
  return {
    die() {
      isDead = true;
      announceDeath?.();
    },
    deliver: (records, shardId) =>
      Promise.race([environment.deliver(records, shardId === undefined ? {} : { shardId }), death]),
  };
}
