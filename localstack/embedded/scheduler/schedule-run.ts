import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import type { MappingPace } from '../event-source/shard-poller.ts';
import type { InvocationResult } from '../lambda/invocation-result.ts';
import type { StackPlace } from '../template/parameters.ts';
import { writeScheduleEvent } from './schedule-event.ts';
import type { ScheduleSettings } from './schedule-settings.ts';

/** What a run needs of its schedule and of the stack around it. */
export interface ScheduleRunHost {
  readonly arn: string;
  readonly settings: ScheduleSettings;
  readonly place: Pick<StackPlace, 'region' | 'accountId'>;
  readonly pace: Pick<MappingPace, 'retryDelayMsMin' | 'retryDelayMsMax'>;
  readonly invoke: (event: string) => Promise<InvocationResult>;
  readonly nowMs: () => number;
}

/** What became of one time that a schedule was due. */
export interface ScheduleRun {
  /** How often the function was asked, retries included. */
  readonly attempts: number;
  /** The last answer. */
  readonly result: InvocationResult;
}

/** The service invokes asynchronously, and Lambda runs an asynchronous invocation that fails twice more. */
const FAILURES_MAX = 3;

/**
 * Brings one event to the function. What the function fails at is retried as Lambda does, twice; what Lambda does not take
 * because too much runs, as the schedule's retry policy says. Pauses are short here, minutes on AWS.
 */
export async function runSchedule(
  host: ScheduleRunHost,
  scheduledAtMs: number,
  stopped: AbortSignal,
): Promise<ScheduleRun> {
  const { settings, place, arn, nowMs } = host;
  const executionId = randomBytes(8).toString('hex');
  let failures = 0;
  let refusals = 0;
  for (let attempt = 1; ; attempt += 1) {
    const event = writeScheduleEvent(settings.input, {
      scheduleArn: arn,
      region: place.region,
      accountId: place.accountId,
      scheduledAtMs,
      executionId,
      attempt,
    });
    const result = await host.invoke(event);
    if (result.kind === 'failed') failures += 1;
    if (result.kind === 'rejected') refusals += 1;
    const isWorthAnother =
      (result.kind === 'failed' && failures < FAILURES_MAX) ||
      (result.kind === 'rejected' &&
        result.reason === 'throttled' &&
        refusals <= settings.retryAttemptsMax &&
        nowMs() - scheduledAtMs < settings.eventAgeMsMax);
    if (!isWorthAnother || stopped.aborted) return { attempts: attempt, result };
    await pause(retryDelayMs(host, attempt), stopped);
  }
}

function retryDelayMs({ pace }: ScheduleRunHost, attempt: number): number {
  return Math.min(pace.retryDelayMsMax, pace.retryDelayMsMin * 2 ** Math.min(attempt - 1, 30));
}

/** Sleeps, or until stopped. */
export async function pause(ms: number, stopped: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal: stopped });
  } catch {
    // Stopped: whoever waits looks at the signal.
  }
}
