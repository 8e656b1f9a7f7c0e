import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Chaos } from '../chaos.ts';
import type { InvocationResult } from '../lambda/invocation-result.ts';
import { invokeUnderChaos } from '../lambda/invoke-under-chaos.ts';
import type { InvokeOptions } from '../lambda/lambda-function.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { judgeBatch, type BatchVerdict } from './batch-response.ts';
import { eventOf } from './batch.ts';
import type { EventRecord } from './event-record.ts';

export interface BatchInvokerHost {
  readonly invoke: (payload: string, options: InvokeOptions) => Promise<InvocationResult>;
  readonly reportsItemFailures: boolean;
  readonly chaos: Chaos;
  /** An invocation that nobody waits for any more. */
  readonly onZombie: (running: Promise<unknown>) => void;
}

export interface BatchOutcome {
  readonly requestId: string;
  /** `zombie`: it was given up while it ran, and is to be delivered again. */
  readonly verdict: BatchVerdict | { readonly kind: 'zombie' };
}

/** Hands batches of one shard to the function and lets chaos kill or abandon invocations at some moment of their life. */
export class BatchInvoker {
  readonly #host: BatchInvokerHost;
  readonly #random: SeededRandom;
  /** A running mean: moments of faults are drawn from about the life of an invocation. */
  #durationMs = 50;

  constructor(host: BatchInvokerHost, random: SeededRandom) {
    this.#host = host;
    this.#random = random;
  }

  async invoke(batch: readonly EventRecord[]): Promise<BatchOutcome> {
    const beganAtMs = performance.now();
    const running = this.#start(eventOf(batch));
    if (await this.#isAbandoned(running)) {
      this.#host.onZombie(running);
      return { requestId: randomUUID(), verdict: { kind: 'zombie' } };
    }
    const result = await running;
    this.#durationMs = (this.#durationMs + performance.now() - beganAtMs) / 2;
    const sequenceNumbers = batch.map((record) => record.sequenceNumber);
    const verdict = judgeBatch(sequenceNumbers, result, this.#host.reportsItemFailures);
    return { requestId: result.requestId, verdict };
  }

  #start(payload: string): Promise<InvocationResult> {
    const { chaos, invoke } = this.#host;
    const dice = { chaos, random: this.#random, durationMs: this.#durationMs };
    return invokeUnderChaos((options) => invoke(payload, options), dice);
  }

  async #isAbandoned(running: Promise<unknown>): Promise<boolean> {
    const { chaos } = this.#host;
    if (!chaos.strikes('zombie', this.#random)) return false;
    const patience = new AbortController();
    const patienceMs = this.#random.next() * this.#durationMs * 1.5;
    const isAbandoned = await Promise.race([
      running.then(() => false),
      sleep(patienceMs, true, { signal: patience.signal }).catch(() => false),
    ]);
    patience.abort();
    if (!isAbandoned) chaos.takeBack('zombie');
    return isAbandoned;
  }
}
