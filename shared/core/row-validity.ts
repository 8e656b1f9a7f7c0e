import { HoldfastError } from './errors.ts';
import { isPast, type Position } from './position.ts';
import type { Reservation } from './reservation.ts';

/*
 * R10: which rows count. A restore abandons what its job did behind the cut. The rows of that time are void by this rule from
 * the flip on, whether or not somebody has removed them yet, and whoever writes some later.
 */

/** What a row says of where it comes from; sinks write it beside the columns. */
export interface RowOrigin {
  readonly generation: number;
  /** `channelId` of the channel that made it. */
  readonly channel: string;
  readonly position: Position;
}

/** True for a row that counts, false for a void one. */
export type RowRule = (row: RowOrigin) => boolean;

/**
 * Makes the rule of a job that is in a generation. A row counts if its generation is on the way from the present one to the
 * first, and lies not past the place at which the next generation on that way forked. Whole generations that were undone
 * are not on it.
 *
 * @param reservations those of all generations on that way, but the first
 */
export function createRowRule(
  generation: number,
  reservations: readonly Pick<Reservation, 'generation' | 'parent' | 'forks'>[],
): RowRule {
  const made = new Map(reservations.map((one) => [one.generation, one]));
  /** For each generation on the way where it ends; undefined for the present one, which does not. */
  const ends = new Map<number, ReadonlyMap<string, Position | undefined> | undefined>();
  let next: number | undefined = generation;
  let end: ReadonlyMap<string, Position | undefined> | undefined;
  while (next !== undefined) {
    ends.set(next, end);
    const from = made.get(next);
    if (from === undefined && next !== 1) {
      throw new HoldfastError(
        'internal',
        `the way from generation ${generation} to the first leads over ${next}, whose reservation is not given`,
      );
    }
    end = from && new Map(from.forks.map(({ channel, position }) => [channel, position]));
    next = from?.parent;
  }
  return ({ generation: own, channel, position }) => {
    if (!ends.has(own)) return false;
    const forks = ends.get(own);
    // A channel that is not among the forks had finished before them.
    if (forks?.has(channel) !== true) return true;
    const fork = forks.get(channel);
    return fork !== undefined && !isPast(position, fork);
  };
}
