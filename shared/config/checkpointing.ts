import * as z from 'zod';
import { showValue, type ConfigurationProblem } from './configuration-error.ts';
import { rule, within } from './limit-rule.ts';
import type { Limit } from './limits.ts';

/*
 * How a job makes checkpoints. Names and meanings are Flink's:
 * https://nightlies.apache.org/flink/flink-docs-stable/docs/deployment/config/#checkpointing
 */

const CHECKPOINTING_LIMITS = {
  intervalSeconds: {
    min: 10,
    max: 21_600,
    unit: 'seconds',
    reason:
      'each one reads the progress of every shard and calls every operator, so under 10 s they cost more than the records that they spare; and a restore reads the records since: some checkpoints may fail, and a stream need keep records for no more than four times the longest interval',
  },
  timeoutSeconds: {
    min: 180,
    max: 86_400,
    unit: 'seconds',
    reason:
      'the coordinator comes once a minute, and one that was killed must leave the next ones the time to finish its work',
  },
  minPauseSeconds: {
    min: 0,
    max: 21_600,
    unit: 'seconds',
    reason: 'it is shorter than the interval',
  },
  tolerableFailures: {
    min: 0,
    max: 1_000,
    unit: 'failed checkpoints',
    reason: 'the job goes on whatever fails, but somebody has to hear of it',
  },
  retained: {
    min: 1,
    max: 100,
    unit: 'checkpoints',
    reason:
      'without one nothing can be restored, and the list of all of them is one item of at most 400 KB',
  },
} as const satisfies Record<string, Limit>;

export const CHECKPOINTING_DEFAULTS = {
  intervalSeconds: 60,
  timeoutSeconds: 600,
  minPauseSeconds: 0,
  maxConcurrent: 1,
  tolerableFailures: 0,
  retained: 5,
} as const;

const settingsSchema = z.strictObject({
  intervalSeconds: within('checkpoint-interval', CHECKPOINTING_LIMITS.intervalSeconds).default(
    CHECKPOINTING_DEFAULTS.intervalSeconds,
  ),
  timeoutSeconds: within('checkpoint-timeout', CHECKPOINTING_LIMITS.timeoutSeconds).optional(),
  minPauseSeconds: within('checkpoint-pause', CHECKPOINTING_LIMITS.minPauseSeconds).default(
    CHECKPOINTING_DEFAULTS.minPauseSeconds,
  ),
  maxConcurrent: z
    .custom<number>(
      (value) => value === 1,
      rule(
        'checkpoint-concurrency',
        '1 (a checkpoint takes as long as a few requests, whatever the size of the state: a second one at the same time would hold the same)',
        'remove it',
      ),
    )
    .default(CHECKPOINTING_DEFAULTS.maxConcurrent),
  tolerableFailures: within('checkpoint-failures', CHECKPOINTING_LIMITS.tolerableFailures).default(
    CHECKPOINTING_DEFAULTS.tolerableFailures,
  ),
  retained: within('retained-checkpoints', CHECKPOINTING_LIMITS.retained).default(
    CHECKPOINTING_DEFAULTS.retained,
  ),
});

/** How many intervals a checkpoint may take, at least. */
const intervalsOfTimeout = 3;

/** The timeout goes with the interval where nobody says anything. */
export const checkpointingSchema = settingsSchema.transform((settings) => ({
  ...settings,
  timeoutSeconds:
    settings.timeoutSeconds ??
    Math.max(CHECKPOINTING_DEFAULTS.timeoutSeconds, intervalsOfTimeout * settings.intervalSeconds),
}));

/** With every default filled in. */
export type Checkpointing = z.output<typeof checkpointingSchema>;

type CodedProblem = ConfigurationProblem & { readonly code: string };

/**
 * What is wrong between settings that are each within their limits; none for those that are not.
 *
 * @param name how the settings are called
 */
export function checkCheckpointing(name: string, description: unknown): CodedProblem[] {
  const read = checkpointingSchema.safeParse(description);
  if (!read.success) return [];
  const { intervalSeconds, timeoutSeconds, minPauseSeconds } = read.data;
  const problems: CodedProblem[] = [];
  if (timeoutSeconds < intervalsOfTimeout * intervalSeconds) {
    problems.push({
      code: 'checkpoint-timeout',
      name: `${name}.timeoutSeconds`,
      got: showValue(timeoutSeconds),
      expected: `at least ${intervalsOfTimeout} times the interval of ${intervalSeconds} (what a coordinator leaves behind that was killed, or throttled, is finished by the next ones; given up sooner it would count as a failure)`,
      remedy: `set it to ${intervalsOfTimeout * intervalSeconds} or more, or shorten the interval`,
    });
  }
  if (minPauseSeconds >= intervalSeconds) {
    problems.push({
      code: 'checkpoint-pause',
      name: `${name}.minPauseSeconds`,
      got: showValue(minPauseSeconds),
      expected: `less than the interval of ${intervalSeconds} (else the pause would be the interval)`,
      remedy: 'shorten it, or lengthen the interval',
    });
  }
  return problems;
}

/** An interval longer than this is allowed, and advised against, s. */
const longIntervalSeconds = 600;

/** What can be deployed, but is likely not what is wanted; by a stable id. */
export function adviseCheckpointing({
  intervalSeconds,
}: Checkpointing): readonly { readonly id: string; readonly text: string }[] {
  if (intervalSeconds <= longIntervalSeconds) return [];
  return [
    {
      id: 'holdfast:long-checkpoint-interval',
      text: `A checkpoint every ${intervalSeconds} s lets a restore read again the records of up to so many seconds, and every segment since is kept. A checkpoint is a few requests, whatever the size of the state: choose at most ${longIntervalSeconds} s.`,
    },
  ];
}
