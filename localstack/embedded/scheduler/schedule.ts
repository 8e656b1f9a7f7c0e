import { describeResult } from '../lambda/invocation-result.ts';
import { pause, runSchedule, type ScheduleRun, type ScheduleRunHost } from './schedule-run.ts';

export interface ScheduleStats {
  /** How often it was due or fired by hand, and the function was asked. */
  readonly runs: number;
  /** Attempts after the first ones. */
  readonly retries: number;
  /** Runs that were given up. */
  readonly failures: number;
  /** Times that went by because too many runs were still under way. */
  readonly skips: number;
}

/** A schedule that ticks in this process. */
export interface EmbeddedSchedule {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
  readonly functionArn: string;
  /** What the template asks for, at the speed of AWS. */
  readonly intervalMs: number;
  /** False where the template says so: then it runs only by hand. */
  readonly isEnabled: boolean;
  /** Runs it now, besides its ticks, and waits until the event is done or given up. */
  fire(): Promise<ScheduleRun>;
  stats(): ScheduleStats;
  /** No tick and no retry begins any more; resolves when what runs has ended. */
  stop(): Promise<void>;
}

export interface ScheduleHost extends ScheduleRunHost {
  readonly logicalId: string;
  readonly name: string;
  readonly functionArn: string;
  /** How many times as fast as on AWS it ticks; 0 for never. */
  readonly speed: number;
  readonly log: (line: string) => void;
}

/** Ticks that may be under way at once. On AWS there is no such bound; here each is a process. */
const RUNS_MAX = 4;
/** However fast time goes, there is a pause between ticks. */
const INTERVAL_MS_MIN = 10;
/** What a timer of Node can wait for at most: 24 days. A longer wait is several of these. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * Starts a schedule. As on AWS, a rate without a start date is due at once and then again and again, whether or not the
 * run before has ended.
 *
 * Source: https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html
 */
export function startSchedule(host: ScheduleHost): EmbeddedSchedule {
  const { logicalId, name, arn, functionArn, settings, speed } = host;
  const counts = { runs: 0, retries: 0, failures: 0, skips: 0 };
  const stopping = new AbortController();
  const underWay = new Set<Promise<ScheduleRun>>();

  const run = async (): Promise<ScheduleRun> => {
    counts.runs += 1;
    const done = await runSchedule(host, host.nowMs(), stopping.signal);
    counts.retries += done.attempts - 1;
    if (done.result.kind !== 'success' && !stopping.signal.aborted) {
      counts.failures += 1;
      host.log(`given up after ${done.attempts} attempts: ${describeResult(done.result)}`);
    }
    return done;
  };
  const start = (): Promise<ScheduleRun> => {
    const running = run();
    underWay.add(running);
    const forget = (): boolean => underWay.delete(running);
    running.then(forget, forget);
    return running;
  };
  const tick = (): void => {
    if (underWay.size < RUNS_MAX) {
      start().catch((error: unknown) => host.log(`a run broke off: ${String(error)}`));
      return;
    }
    counts.skips += 1;
    host.log(`not run this time: ${underWay.size} runs are still under way`);
  };
  const ticks = async (): Promise<void> => {
    const intervalMs = Math.max(INTERVAL_MS_MIN, settings.intervalMs / speed);
    let dueMs = performance.now();
    while (!stopping.signal.aborted) {
      tick();
      // Ticks that a busy process has missed are not made up for.
      dueMs = Math.max(dueMs + intervalMs, performance.now());
      let waitMs = dueMs - performance.now();
      while (waitMs > 0 && !stopping.signal.aborted) {
        await pause(Math.min(waitMs, TIMER_MS_MAX), stopping.signal);
        waitMs = dueMs - performance.now();
      }
    }
  };
  const ticking = speed > 0 && settings.isEnabled ? ticks() : Promise.resolve();

  return {
    logicalId,
    name,
    arn,
    functionArn,
    intervalMs: settings.intervalMs,
    isEnabled: settings.isEnabled,
    fire() {
      if (!stopping.signal.aborted) return start();
      return Promise.reject(new Error(`schedule ${name} cannot run: the local AWS is stopping`));
    },
    stats: () => ({ ...counts }),
    async stop() {
      stopping.abort();
      await Promise.allSettled([ticking, ...underWay]);
    },
  };
}

/** By ARN, name or logical id. Throws with the names that there are. */
export function findSchedule(
  schedules: readonly EmbeddedSchedule[],
  name: string,
): EmbeddedSchedule {
  const found = schedules.find(
    (one) => one.logicalId === name || one.name === name || one.arn === name,
  );
  if (found !== undefined) return found;
  const known = schedules.map(({ logicalId }) => logicalId).join(', ') || '(none)';
  throw new Error(`there is no schedule "${name}"; known: ${known}`);
}

/** @throws RangeError for a speed that is none */
export function assertScheduleSpeed(speed: number): void {
  if (Number.isFinite(speed) && speed >= 0) return;
  throw new RangeError(
    `scheduleSpeed is ${speed}, expected how many times as fast as on AWS schedules tick, 0 for never`,
  );
}
