import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { PAYLOAD_BYTES_MAX } from '../lambda/lambda-function.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { BatchInvoker, type BatchInvokerHost } from './batch-invoker.ts';
import { cutBatch, decideBatch } from './batch.ts';
import type { EventOrigin, EventRecord } from './event-record.ts';
import {
  failureObjectKey,
  failureRecordOf,
  type FailureDestination,
  type GiveUpCondition,
} from './failure-destination.ts';
import type { MappingSettings } from './mapping-settings.ts';
import type { MappingCounters } from './mapping-stats.ts';
import { ShardBuffer } from './shard-buffer.ts';
import type { ShardLedger } from './shard-ledger.ts';
import type { ShardPosition, StreamReader } from './stream-reader.ts';

/** How fast a mapping goes. AWS polls once a second and does not say how it backs off. */
export interface MappingPace {
  /** Between two reads of a shard that has nothing new; doubles while nothing comes. */
  readonly pollIntervalMsMin: number;
  readonly pollIntervalMsMax: number;
  /** Before the first retry of a batch; doubles with every further one. */
  readonly retryDelayMsMin: number;
  readonly retryDelayMsMax: number;
  /** Between two looks for new shards. */
  readonly discoveryIntervalMs: number;
}

/** What all pollers of one mapping share. */
export interface ShardPollerHost extends Omit<BatchInvokerHost, 'reportsItemFailures'> {
  readonly mappingId: string;
  readonly functionArn: string;
  readonly settings: MappingSettings;
  readonly pace: MappingPace;
  readonly stream: StreamReader;
  readonly destination: FailureDestination | undefined;
  readonly counters: MappingCounters;
  readonly nowMs: () => number;
  readonly log: (line: string) => void;
  readonly onFinished: () => void;
  /** Chaos wants the whole mapping to start again. */
  readonly onRestartWanted: () => void;
}

/** How a batch is to be read again. */
interface Reread {
  readonly position: ShardPosition;
  readonly recordsMax: number;
  readonly firstSequenceNumber: string;
  /** Where the earlier cut ended. */
  readonly lastSequenceNumber: string;
  /** Invocations that failed with this first record. */
  readonly failures: number;
}

/** After a batch: read on, read again, or begin anew at the ledger's position. */
type NextStep = 'read-on' | 'begin-anew' | Reread;

/** Delivers one shard, one batch at a time, until the shard is finished or `stop()` is called. */
export class ShardPoller {
  /** Resolves when nothing of this poller runs any more; zombies are not waited for. */
  readonly done: Promise<void>;
  behindLatestMs = 0;
  /** When the last read began that found nothing left to deliver (performance.now()); undefined while there is work. */
  idleAsOfMs: number | undefined;
  #isStopping = false;
  /** Ends the pause that is under way. */
  #endPause: () => void = () => undefined;
  #isWaitingForRecords = false;
  #emptyPages = 0;
  readonly #ledger: ShardLedger;
  readonly #origin: EventOrigin;
  readonly #host: ShardPollerHost;
  readonly #random: SeededRandom;
  readonly #invoker: BatchInvoker;
  #windowEndsAtMs: number;
  #lastProblem = '';

  constructor(
    ledger: ShardLedger,
    origin: EventOrigin,
    host: ShardPollerHost,
    random: SeededRandom,
  ) {
    this.#ledger = ledger;
    this.#origin = origin;
    this.#host = host;
    this.#random = random;
    const { reportsItemFailures } = host.settings;
    this.#invoker = new BatchInvoker({ ...host, reportsItemFailures }, random);
    this.#windowEndsAtMs = host.nowMs() + host.settings.windowMs;
    this.done = this.#run();
  }

  /** Takes no further batch. The running invocation goes on and its result counts. */
  stop(): void {
    this.#isStopping = true;
    this.#endPause();
  }

  /** Reads at once if it only waits for new records. Does not shorten the wait before a retry. */
  poke(): void {
    if (this.#isWaitingForRecords) this.#endPause();
  }

  async #run(): Promise<void> {
    let next: Reread | undefined;
    while (!this.#isStopping && !this.#ledger.isFinished) {
      try {
        next = await this.#consume(next);
      } catch (error) {
        // The stream or the destination did not answer. What was only read is read again.
        next = undefined;
        await this.#noteProblem(error);
      }
    }
    this.idleAsOfMs = undefined;
  }

  /** Reads and delivers until something must be read again, or there is nothing more to do. */
  async #consume(initial: Reread | undefined): Promise<Reread | undefined> {
    const position = initial?.position ?? this.#ledger.position();
    const buffer = new ShardBuffer(position, this.#origin, this.#host.stream);
    let reread = initial;
    for (;;) {
      const batch = await this.#gather(buffer, reread);
      if (batch === 'stopped') return undefined;
      if (batch === 'finished') {
        this.#ledger.isFinished = true;
        this.#host.counters.shardsFinished += 1;
        this.#host.onFinished();
        return undefined;
      }
      const next = await this.#deliver(batch, reread);
      this.#windowEndsAtMs = this.#host.nowMs() + this.#host.settings.windowMs;
      if (next === 'begin-anew') return undefined;
      if (next !== 'read-on') return next;
      buffer.drop(batch.length);
      reread = undefined;
    }
  }

  async #gather(
    buffer: ShardBuffer,
    reread: Reread | undefined,
  ): Promise<readonly EventRecord[] | 'finished' | 'stopped'> {
    const { settings, nowMs } = this.#host;
    const recordsMax = reread?.recordsMax ?? settings.batchSize;
    while (!this.#isStopping) {
      const cut = cutBatch(buffer.records, { recordsMax, bytesMax: PAYLOAD_BYTES_MAX });
      // A retry waits for no window: its records are there.
      const windowEndsAtMs = reread === undefined ? this.#windowEndsAtMs : Number.POSITIVE_INFINITY;
      const decision = decideBatch(
        { cut, nowMs: nowMs(), windowEndsAtMs, isShardAtEnd: buffer.isAtEnd },
        settings.windowMs,
      );
      if (decision.kind === 'finished') return 'finished';
      const isAllThereIs = reread !== undefined && cut.count > 0 && buffer.isAtTip;
      if (decision.kind === 'deliver' || isAllThereIs) return buffer.records.slice(0, cut.count);
      if (reread === undefined) this.#windowEndsAtMs = decision.windowEndsAtMs;
      await this.#readPage(buffer, recordsMax);
    }
    return 'stopped';
  }

  async #readPage(buffer: ShardBuffer, recordsMax: number): Promise<void> {
    const beganAtMs = performance.now();
    const openedAtMs = this.#host.nowMs();
    const count = await buffer.fill(recordsMax - buffer.records.length);
    this.#ledger.anchorLatest(openedAtMs);
    this.behindLatestMs = buffer.behindLatestMs;
    const isIdle = buffer.records.length === 0 && buffer.isAtTip && !buffer.isAtEnd;
    this.idleAsOfMs = isIdle ? beganAtMs : undefined;
    this.#emptyPages = count === 0 ? this.#emptyPages + 1 : 0;
    if (count > 0 || buffer.isAtEnd) return;
    const { pollIntervalMsMin, pollIntervalMsMax } = this.#host.pace;
    this.#isWaitingForRecords = true;
    await this.#pauseFor(doubling(this.#emptyPages, pollIntervalMsMin, pollIntervalMsMax));
    this.#isWaitingForRecords = false;
  }

  async #deliver(batch: readonly EventRecord[], reread: Reread | undefined): Promise<NextStep> {
    const { counters, settings } = this.#host;
    const [first] = batch;
    const failures =
      reread?.firstSequenceNumber === first?.sequenceNumber ? (reread?.failures ?? 0) : 0;
    const expired = this.#expiredPrefix(batch);
    if (expired.length > 0) {
      await this.#giveUp(expired, 'RecordAgeExceeded', { requestId: randomUUID(), failures });
      return 'begin-anew';
    }
    this.#countDelivery(batch, reread);
    const { verdict, requestId } = await this.#invoker.invoke(batch);
    switch (verdict.kind) {
      case 'succeeded':
        return this.#accept(batch);
      case 'partial': {
        counters.partialFailures += 1;
        const rest = batch.slice(verdict.firstFailedIndex);
        this.#ledger.moveAfter(batch[verdict.firstFailedIndex - 1]?.sequenceNumber ?? '');
        await this.#backOff(1);
        return this.#again(rest, { failures: 0, recordsMax: rest.length });
      }
      case 'not-invoked':
        this.#report(batch, verdict.why);
        await this.#backOff(1);
        return this.#again(batch, { failures, recordsMax: batch.length });
      case 'zombie':
        counters.zombies += 1;
        return this.#again(batch, { failures, recordsMax: batch.length });
      case 'failed':
        counters.failures += 1;
        this.#report(batch, verdict.why);
        // Halving costs no retry.
        if (settings.bisectsOnError && batch.length > 1) {
          return this.#again(batch, { failures, recordsMax: Math.ceil(batch.length / 2) });
        }
        if (failures >= settings.retriesMax) {
          const invocation = { requestId, failures: failures + 1 };
          await this.#giveUp(batch, 'RetryAttemptsExhausted', invocation);
          return 'begin-anew';
        }
        await this.#backOff(failures + 1);
        return this.#again(batch, { failures: failures + 1, recordsMax: batch.length });
    }
  }

  /** The batch is done, unless chaos wants more of it. */
  #accept(batch: readonly EventRecord[]): NextStep {
    const { chaos, counters } = this.#host;
    const isNew = this.#ledger.moveAfter(batch.at(-1)?.sequenceNumber ?? '');
    // Only progress may be disturbed, or a probability of 1 would never end.
    if (!isNew) return 'read-on';
    if (chaos.strikes('restartMapping', this.#random)) {
      this.#host.onRestartWanted();
      return 'read-on';
    }
    if (!chaos.strikes('duplicateAfterSuccess', this.#random)) return 'read-on';
    counters.duplicatesAfterSuccess += 1;
    return this.#again(batch, { failures: 0, recordsMax: batch.length });
  }

  #again(batch: readonly EventRecord[], plan: { failures: number; recordsMax: number }): Reread {
    const firstSequenceNumber = batch[0]?.sequenceNumber ?? '';
    const isRecut = this.#host.chaos.strikes('recutOnRetry', this.#random);
    return {
      position: { kind: 'at', sequenceNumber: firstSequenceNumber },
      firstSequenceNumber,
      lastSequenceNumber: batch.at(-1)?.sequenceNumber ?? '',
      failures: plan.failures,
      recordsMax: isRecut
        ? 1 + this.#random.integerBelow(this.#host.settings.batchSize)
        : plan.recordsMax,
    };
  }

  #countDelivery(batch: readonly EventRecord[], reread: Reread | undefined): void {
    const { counters } = this.#host;
    counters.batches += 1;
    counters.records += batch.length;
    counters.redeliveries += this.#ledger.noteDelivered(batch);
    const isAgain = reread?.firstSequenceNumber === batch[0]?.sequenceNumber;
    if (isAgain && reread?.lastSequenceNumber !== batch.at(-1)?.sequenceNumber)
      counters.recuts += 1;
  }

  #expiredPrefix(batch: readonly EventRecord[]): readonly EventRecord[] {
    const oldestMs = this.#host.nowMs() - this.#host.settings.recordAgeMsMax;
    const firstYoung = batch.findIndex((record) => record.arrivalMs >= oldestMs);
    return firstYoung === -1 ? batch : batch.slice(0, firstYoung);
  }

  async #giveUp(
    records: readonly EventRecord[],
    condition: GiveUpCondition,
    invocation: { requestId: string; failures: number },
  ): Promise<void> {
    const { counters, destination, mappingId, functionArn, nowMs } = this.#host;
    const { shardId, streamArn } = this.#origin;
    this.#report(records, `given up: ${condition}`);
    if (destination !== undefined) {
      const at = { nowMs: nowMs(), objectId: randomUUID() };
      const record = failureRecordOf({
        condition,
        records,
        shardId,
        streamArn,
        functionArn,
        requestId: invocation.requestId,
        invokeCount: invocation.failures,
        nowMs: at.nowMs,
      });
      await destination(failureObjectKey(mappingId, shardId, at), record);
      counters.destinationWrites += 1;
    }
    counters.recordsGivenUp += records.length;
    this.#ledger.moveAfter(records.at(-1)?.sequenceNumber ?? '');
  }

  #report(batch: readonly EventRecord[], why: string): void {
    const from = batch[0]?.sequenceNumber;
    this.#host.log(`${this.#origin.shardId}: batch of ${batch.length} from ${from}: ${why}`);
  }

  async #noteProblem(error: unknown): Promise<void> {
    if (this.#isStopping) return;
    const problem = String(error);
    // The same trouble again and again is one line.
    if (problem !== this.#lastProblem) this.#host.log(`${this.#origin.shardId}: ${problem}`);
    this.#lastProblem = problem;
    await this.#pauseFor(this.#host.pace.retryDelayMsMax);
  }

  async #backOff(failures: number): Promise<void> {
    const { retryDelayMsMin, retryDelayMsMax } = this.#host.pace;
    const delayMs = doubling(failures, retryDelayMsMin, retryDelayMsMax);
    await this.#pauseFor(delayMs * (0.5 + 0.5 * this.#random.next()));
  }

  async #pauseFor(delayMs: number): Promise<void> {
    if (this.#isStopping) return;
    const pause = new AbortController();
    this.#endPause = () => pause.abort();
    await sleep(delayMs, undefined, { signal: pause.signal }).catch(() => undefined);
  }
}

/** The first time the minimum, then twice as much each time, up to the maximum. */
function doubling(times: number, minMs: number, maxMs: number): number {
  return Math.min(maxMs, minMs * 2 ** Math.min(times - 1, 30));
}
