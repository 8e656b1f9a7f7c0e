import { setTimeout as sleep } from 'node:timers/promises';

import type { SeededRandom } from '../seeded-random.ts';
import type { EventOrigin } from './event-record.ts';
import { MappingSession } from './mapping-session.ts';
import type { MappingSettings } from './mapping-settings.ts';
import { newMappingCounters, type MappingStats } from './mapping-stats.ts';
import type { ShardPollerHost } from './shard-poller.ts';
import { ShardRegistry } from './shard-registry.ts';

const IDLE_CHECK_INTERVAL_MS = 20;

/** Delivers a stream to a function as Lambda does: at least once, one batch at a time for each shard. */
export interface EventSourceMapping {
  readonly logicalId: string;
  /** Its UUID. */
  readonly id: string;
  readonly streamArn: string;
  readonly functionArn: string;
  readonly settings: MappingSettings;
  stats(): MappingStats;
  /** Takes no further batches. Invocations that run go on: AWS gives no barrier either. */
  pause(): void;
  /** Goes on from the persisted positions, which lag: expect records again. */
  resume(): void;
  /** Pause and resume at once, as after a failure of the mapping's own host. */
  restart(): void;
  /** True if the last looks found no record that is not delivered, no retry and no running invocation. */
  isIdle(): boolean;
  /**
   * Resolves when everything that was in the stream at the time of the call has been delivered successfully (or given
   * up). Rejects if that takes longer than `timeoutMs`, or when the mapping is paused. @default 60000
   */
  whenIdle(options?: { timeoutMs?: number }): Promise<void>;
  /** Ends for good. Does not wait for zombies: their function must be stopped, too. */
  stop(): Promise<void>;
}

export interface MappingOptions extends Omit<
  ShardPollerHost,
  'counters' | 'onZombie' | 'onFinished' | 'onRestartWanted'
> {
  readonly logicalId: string;
  readonly origin: Omit<EventOrigin, 'shardId'>;
  readonly random: SeededRandom;
}

export function createEventSourceMapping(options: MappingOptions): EventSourceMapping {
  const { logicalId, settings, chaos, random } = options;
  const counters = newMappingCounters();
  const zombies = new Set<Promise<unknown>>();
  const { startingPosition } = settings;
  const registry = new ShardRegistry({ startingPosition, chaos, random, counters });
  let session: MappingSession | undefined;
  let sessionCount = 0;
  /** The end of all sessions so far; a new one takes no batch before it. */
  let earlier: Promise<void> = Promise.resolve();
  let isStopped = false;

  const host: ShardPollerHost = {
    ...options,
    counters,
    onZombie(running) {
      zombies.add(running);
      void running.finally(() => zombies.delete(running));
    },
    // Its children may be waiting.
    onFinished: () => session?.lookForShards(),
    onRestartWanted: () => restart(),
  };

  const resume = (): void => {
    if (session !== undefined || isStopped) return;
    sessionCount += 1;
    // The last results must be in: only what a session has delivered may its successor forget.
    const before = sessionCount === 1 ? earlier : earlier.then(() => registry.rewind());
    session = new MappingSession(
      { host, registry, origin: options.origin, random: random.fork(`session ${sessionCount}`) },
      before,
    );
    earlier = session.done;
  };

  const pause = (): void => {
    session?.stop();
    session = undefined;
  };

  const restart = (): void => {
    if (session === undefined) return;
    counters.restarts += 1;
    pause();
    resume();
  };

  const idleAsOfMs = (): number | undefined =>
    zombies.size > 0 ? undefined : session?.idleAsOfMs();

  if (settings.isEnabled) resume();
  return {
    logicalId,
    id: options.mappingId,
    streamArn: options.origin.streamArn,
    functionArn: options.functionArn,
    settings,
    stats: () => ({ ...counters, lagMs: session?.behindLatestMs() ?? 0 }),
    pause,
    resume,
    restart,
    isIdle: () => idleAsOfMs() !== undefined,
    async whenIdle({ timeoutMs = 60_000 } = {}) {
      const calledAtMs = performance.now();
      while ((idleAsOfMs() ?? -1) < calledAtMs) {
        if (session === undefined) {
          throw new Error(`mapping ${logicalId} is paused or stopped; resume it first`);
        }
        if (performance.now() - calledAtMs > timeoutMs) {
          throw new Error(
            `mapping ${logicalId} is not idle after ${timeoutMs} ms: ${JSON.stringify(counters)}; ` +
              'look for a batch that always fails, or give it more time',
          );
        }
        session.pokeUnlessLookedSince(calledAtMs);
        await sleep(IDLE_CHECK_INTERVAL_MS);
      }
    },
    async stop() {
      isStopped = true;
      pause();
      await earlier;
    },
  };
}
