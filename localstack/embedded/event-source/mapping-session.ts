import { setTimeout as sleep } from 'node:timers/promises';

import type { SeededRandom } from '../seeded-random.ts';
import type { EventOrigin } from './event-record.ts';
import { ShardPoller, type ShardPollerHost } from './shard-poller.ts';
import type { ShardRegistry } from './shard-registry.ts';

export interface MappingSessionOptions {
  readonly host: ShardPollerHost;
  readonly registry: ShardRegistry;
  readonly origin: Omit<EventOrigin, 'shardId'>;
  readonly random: SeededRandom;
}

/** A mapping from one start to the next stop: looks for shards and keeps a poller for each that may be read. */
export class MappingSession {
  /** Resolves when nothing of the session runs any more; zombies are not waited for. */
  readonly done: Promise<void>;
  readonly #options: MappingSessionOptions;
  readonly #pollers = new Map<string, ShardPoller>();
  #isStopping = false;
  /** When the last complete look at the shards began; undefined before the first one. */
  #listedAsOfMs: number | undefined;
  #endPause: () => void = () => undefined;

  /** Takes no batch before `before` is over. */
  constructor(options: MappingSessionOptions, before: Promise<void>) {
    this.#options = options;
    this.done = before.then(() => this.#run());
  }

  /** Takes no further batch. Running invocations go on, and their results count. */
  stop(): void {
    this.#isStopping = true;
    this.#endPause();
    for (const poller of this.#pollers.values()) poller.stop();
  }

  /** Looks for shards without waiting any longer. */
  lookForShards(): void {
    this.#endPause();
  }

  /** The moment as of which everything was delivered, undefined while something is not (performance.now()). */
  idleAsOfMs(): number | undefined {
    let asOfMs = this.#listedAsOfMs;
    for (const ledger of this.#options.registry.unfinished()) {
      const idleMs = this.#pollers.get(ledger.shard.shardId)?.idleAsOfMs;
      if (idleMs === undefined || asOfMs === undefined) return undefined;
      asOfMs = Math.min(asOfMs, idleMs);
    }
    return asOfMs;
  }

  /** Makes everything look again that has not looked since. */
  pokeUnlessLookedSince(sinceMs: number): void {
    if ((this.#listedAsOfMs ?? -1) < sinceMs) this.lookForShards();
    for (const poller of this.#pollers.values()) {
      if ((poller.idleAsOfMs ?? -1) < sinceMs) poller.poke();
    }
  }

  behindLatestMs(): number {
    return Math.max(0, ...[...this.#pollers.values()].map((poller) => poller.behindLatestMs));
  }

  async #run(): Promise<void> {
    const { stream, pace, log } = this.#options.host;
    while (!this.#isStopping) {
      const pause = new AbortController();
      this.#endPause = () => pause.abort();
      const beganAtMs = performance.now();
      try {
        this.#options.registry.register(await stream.listShards());
        this.#startPollers();
        this.#listedAsOfMs = beganAtMs;
      } catch (error) {
        if (!this.#isStopping) log(`cannot list the shards: ${String(error)}`);
      }
      if (this.#isStopping) break;
      await sleep(pace.discoveryIntervalMs, undefined, { signal: pause.signal }).catch(
        () => undefined,
      );
    }
    await Promise.all([...this.#pollers.values()].map((poller) => poller.done));
  }

  #startPollers(): void {
    const { host, registry, origin, random } = this.#options;
    if (this.#isStopping) return;
    for (const ledger of registry.readable()) {
      const { shardId } = ledger.shard;
      if (this.#pollers.has(shardId)) continue;
      const dice = random.fork(`shard ${shardId}`);
      this.#pollers.set(shardId, new ShardPoller(ledger, { ...origin, shardId }, host, dice));
    }
  }
}
