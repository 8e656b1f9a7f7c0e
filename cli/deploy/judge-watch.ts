/*
 * Whether a deployment goes well. Pure: from what was seen before the deployment and what is seen now.
 */

/** A channel, as it is seen. */
export interface SeenChannel {
  readonly channel: string;
  readonly isFinished: boolean;
  /** Goes up with each commit. */
  readonly version: number;
  /** ms since the epoch. */
  readonly committedAtMs: number;
  /** A record is in the stream that is not committed; undefined where nobody has looked. */
  readonly hasUnread?: boolean;
}

export interface SeenLetter {
  readonly channel: string;
  readonly reason: string;
  readonly message: string;
}

export interface Sight {
  readonly channels: readonly SeenChannel[];
  /** Of the newest checkpoint, ms since the epoch; 0 for none. */
  readonly checkpointAtMs: number;
  /** Checkpoints that have failed in a row. */
  readonly failures: number;
  readonly lastFailure: string | undefined;
  /** New since the deployment began: at most some of each channel. */
  readonly letters: readonly SeenLetter[];
  /** What holds the job; undefined for nothing. */
  readonly hold: string | undefined;
  /** What of the stored state the deployed code cannot go on with, and functions that do not answer. */
  readonly refusals: readonly string[];
}

export interface WatchRules {
  /** From when on no invocation of the old code can be at work any more, ms since the epoch. */
  readonly settledAtMs: number;
  /** When the patience is over, ms since the epoch. */
  readonly untilMs: number;
  /** Dead letters that are no trouble. */
  readonly deadLettersMax: number;
}

export type Verdict =
  | { readonly kind: 'well'; readonly committed: number; readonly quiet: number }
  | { readonly kind: 'trouble'; readonly reasons: readonly string[] }
  | { readonly kind: 'wait'; readonly missing: readonly string[] };

/** True for a channel in which the new code has committed: only it is at work then. */
export function isCommittedByNew(
  { committedAtMs }: SeenChannel,
  { settledAtMs }: WatchRules,
): boolean {
  return committedAtMs >= settledAtMs;
}

/** @param before what was seen right before the deployment */
export function judge(
  before: Pick<Sight, 'failures'>,
  now: Sight,
  nowMs: number,
  rules: WatchRules,
): Verdict {
  const reasons = findTroubles(before, now, rules);
  if (reasons.length > 0) return { kind: 'trouble', reasons };
  const open = now.channels.filter(({ isFinished }) => !isFinished);
  const committed = open.filter((channel) => isCommittedByNew(channel, rules));
  const others = open.filter((channel) => !isCommittedByNew(channel, rules));
  const behind = others.filter(({ hasUnread }) => hasUnread !== false);
  const missing = [
    ...(nowMs < rules.settledAtMs ? ['the end of what the old code had under way'] : []),
    ...behind.map(({ channel }) => `a unit of ${channel}`),
    ...(now.checkpointAtMs < rules.settledAtMs ? ['a checkpoint'] : []),
  ];
  if (missing.length === 0) {
    return { kind: 'well', committed: committed.length, quiet: others.length };
  }
  if (nowMs < rules.untilMs) return { kind: 'wait', missing };
  return {
    kind: 'trouble',
    reasons: missing.map((what) => `${what} has not come`),
  };
}

function findTroubles(
  before: Pick<Sight, 'failures'>,
  now: Sight,
  { deadLettersMax }: WatchRules,
): string[] {
  const { letters, failures, lastFailure, hold, refusals } = now;
  const reasons = [...refusals];
  if (letters.length > deadLettersMax) {
    const [{ channel, reason, message }] = letters as [SeenLetter];
    const count =
      letters.length === 1 ? 'a record or timer' : `${letters.length} records or timers`;
    reasons.push(
      `${count} could not be processed since the deployment began, in ${channel}: ${reason}${message === '' ? '' : `, ${message}`}`,
    );
  }
  if (failures > before.failures) {
    reasons.push(`a checkpoint has failed: ${lastFailure ?? 'for an unknown reason'}`);
  }
  if (hold !== undefined) reasons.push(`the job is held by ${hold}`);
  return reasons;
}

/** True where some unit was committed, or some record given up, since the deployment began: by whichever code. */
export function hasMoved(
  before: Pick<Sight, 'channels'>,
  now: Pick<Sight, 'channels' | 'letters'>,
): boolean {
  const known = new Map(before.channels.map(({ channel, version }) => [channel, version]));
  return (
    now.letters.length > 0 ||
    now.channels.some(({ channel, version }) => version > (known.get(channel) ?? 0))
  );
}
