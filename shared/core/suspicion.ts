import { comparePositions, type Position } from './position.ts';

/*
 * How a record that never lets an invocation come back is found (P15). A death leaves no message, so work that might
 * die is announced first: always where this environment does not know the channel (after a death it never does), and
 * then in ever smaller pieces down to one record. Whoever comes back takes its announcement away. A record is condemned
 * only for attempts that were announced for it alone and either threw or never came back.
 */

/** By how much the pieces shrink after a death. */
const shrinkFactor = 8;

/** What is known of the attempts at what follows a position. */
export interface AttemptHistory {
  /** The progress at which the attempts began; undefined for the start of the channel. */
  readonly position: Position | undefined;
  /** How many records each of them tried at once. */
  readonly span: number;
  /** The ids of those that have not come back: they run, or died. */
  readonly outstanding: readonly string[];
  /** How many times the record after `position` has thrown. */
  readonly throws: number;
  /** What it threw last. */
  readonly reason: string | undefined;
}

export interface AttemptFacts {
  readonly position: Position | undefined;
  /** What was announced last for this channel, at whatever position. */
  readonly history: AttemptHistory | undefined;
  /** The last commit of the channel was made by this environment. */
  readonly isWarm: boolean;
  /** How many records a unit may have at the moment. */
  readonly span: number;
  /** How many records a unit may have where nothing is suspected. */
  readonly spanMax: number;
  /** How many deaths, or how many throws, condemn a record. */
  readonly attemptsMax: number;
  /** The id under which this attempt would be announced. */
  readonly id: string;
}

/**
 * - `run`: take at most `span` records; write `announcement` first, where there is one.
 * - `condemn`: the next record goes to the dead letters without being run.
 */
export type AttemptPlan =
  | {
      readonly kind: 'run';
      readonly span: number;
      readonly announcement: AttemptHistory | undefined;
    }
  | { readonly kind: 'condemn'; readonly reason: string };

/** Decides how the next unit of a channel is tried. */
export function planAttempt(facts: AttemptFacts): AttemptPlan {
  const { position, isWarm, spanMax, id } = facts;
  const history = relevantHistory(facts.history, position);
  if (history === undefined) {
    if (isWarm && facts.span >= spanMax) {
      return { kind: 'run', span: spanMax, announcement: undefined };
    }
    const { span } = facts;
    return announce({ position, span, outstanding: [id], throws: 0, reason: undefined });
  }
  // This invocation is alive: what it announced itself is no death.
  const outstanding = history.outstanding.filter((other) => other !== id);
  if (history.span > 1) {
    const hasDied = outstanding.length > 0;
    const shrunk = hasDied ? Math.ceil(history.span / shrinkFactor) : history.span;
    return announce({ ...history, span: Math.min(shrunk, facts.span), outstanding: [id] });
  }
  if (outstanding.length >= facts.attemptsMax) {
    return { kind: 'condemn', reason: deathReason };
  }
  if (history.throws >= facts.attemptsMax) {
    return { kind: 'condemn', reason: history.reason ?? deathReason };
  }
  return announce({ ...history, outstanding: [...outstanding, id] });
}

/** The history after the record at its position threw, in the attempt with this id. */
export function recordThrow(
  history: AttemptHistory | undefined,
  position: Position | undefined,
  id: string | undefined,
  reason: string,
): AttemptHistory {
  const relevant = relevantHistory(history, position);
  const isAlone = relevant !== undefined && relevant.span === 1;
  return {
    position,
    span: 1,
    outstanding: isAlone ? relevant.outstanding.filter((other) => other !== id) : [],
    throws: (isAlone ? relevant.throws : 0) + 1,
    reason,
  };
}

/** The history once an attempt has come back; undefined where it is not in it any more. */
export function recordReturn(history: AttemptHistory, id: string): AttemptHistory | undefined {
  if (!history.outstanding.includes(id)) return undefined;
  return { ...history, outstanding: history.outstanding.filter((other) => other !== id) };
}

/** The span of the unit after one that went well: back to normal in steps. */
export function growSpan(span: number, spanMax: number): number {
  return Math.min(span * 2, spanMax);
}

const deathReason =
  'the invocation did not come back: it ran out of time or memory, or its process was killed';

function announce(announcement: AttemptHistory): AttemptPlan {
  return { kind: 'run', span: announcement.span, announcement };
}

function relevantHistory(
  history: AttemptHistory | undefined,
  position: Position | undefined,
): AttemptHistory | undefined {
  if (history === undefined) return undefined;
  if (history.position === undefined || position === undefined) {
    return history.position === position ? history : undefined;
  }
  return comparePositions(history.position, position) === 0 ? history : undefined;
}
