import * as z from 'zod';
import { formatPosition, parsePosition, type Position } from './position.ts';
import { decodeDocument, encodeDocument, type DocumentFormat } from './stored-document.ts';

/*
 * R4: the number of a generation is reserved by an object before its first use, and belongs to one manifest for ever. It also
 * says where the generation forks from its parent (R10): rows of the parent past those positions are void.
 */

/** What a generation is made from. */
export interface Reservation {
  readonly job: string;
  readonly generation: number;
  readonly parent: number;
  /** Object name of the manifest. */
  readonly manifest: string;
  /** Id of the restore. */
  readonly restore: string;
  /** Id of the hold that it was made under; a twin that works under the same one takes the same number. */
  readonly hold: string;
  /** Object name of the base: the run files that its state is loaded from. */
  readonly base: string;
  readonly forks: readonly Fork[];
  /** State that the manifest has and the generation does not take over, as its restore allowed. */
  readonly dropped: readonly DroppedState[];
  /** Generations that are left behind, and may have taken rows with them (R10); `all` where nothing is known of the sinks. */
  readonly left: readonly number[] | 'all';
}

export interface DroppedState {
  readonly operator: string;
  /** Undefined for all states of an operator that is gone. */
  readonly state: string | undefined;
}

/** Where a channel of the parent ends for this generation; undefined before its first record. */
export interface Fork {
  /** `channelId` of the channel. */
  readonly channel: string;
  readonly position: Position | undefined;
}

const stored = z.strictObject({
  job: z.string(),
  generation: z.int().min(2),
  parent: z.int().min(1),
  manifest: z.string().min(1),
  restore: z.string().min(1),
  hold: z.string().min(1),
  base: z.string().min(1),
  forks: z.array(z.strictObject({ channel: z.string(), position: z.string().optional() })),
  dropped: z.array(z.strictObject({ operator: z.string(), state: z.string().optional() })),
  left: z.union([z.literal('all'), z.array(z.int().min(2))]),
});

const format: DocumentFormat<Reservation> = {
  what: 'reservation of a generation',
  format: 'holdfast-generation',
  version: 1,
  remedy: 'without it nobody can tell which rows of the generation count; take it from a backup',
  read: (body) => {
    const parsed = stored.safeParse(body);
    if (!parsed.success) return { problem: z.prettifyError(parsed.error) };
    const forks = parsed.data.forks.map(({ channel, position }) => ({
      channel,
      position: position === undefined ? undefined : parsePosition(position),
    }));
    const dropped = parsed.data.dropped.map(({ operator, state }) => ({ operator, state }));
    return { body: { ...parsed.data, forks, dropped } };
  },
};

export function encodeReservation({ forks, dropped, left, ...rest }: Reservation): Uint8Array {
  const body: z.input<typeof stored> = {
    ...rest,
    left: left === 'all' ? left : [...left],
    forks: forks.map(({ channel, position }) => ({
      channel,
      ...(position === undefined ? {} : { position: formatPosition(position) }),
    })),
    dropped: dropped.map(({ operator, state }) => ({
      operator,
      ...(state === undefined ? {} : { state }),
    })),
  };
  return encodeDocument(format, body);
}

/** @throws HoldfastError `corrupt` where it is not what was written, `invalid` where it is newer than this code */
export function decodeReservation(bytes: Uint8Array, name: string): Reservation {
  return decodeDocument(format, bytes, name);
}
