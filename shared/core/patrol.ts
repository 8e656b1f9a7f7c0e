import type { Shard } from './channel.ts';
import { compareTexts } from './position.ts';
import type { Progress } from './progress.ts';

/*
 * R7: the trigger invokes an operator only where records arrive. A channel to which none do is visited instead, so that what
 * is closed ends, what is quiet is known to be read to its tip, and what was held goes on.
 */

export interface PatrolledChannel {
  readonly operator: string;
  readonly shardId: string;
  readonly progress: Pick<Progress, 'isFinished' | 'fence' | 'committedAtMs' | 'checkedAtMs'>;
}

export interface PatrolFacts {
  readonly operators: readonly string[];
  /** Channels of the present stream, in the job's generation. */
  readonly channels: readonly PatrolledChannel[];
  /** All shards that the stream still tells of. */
  readonly shards: readonly Shard[];
  readonly retentionMs: number;
  readonly nowMs: number;
}

/**
 * - `fenced`: by a hold that is over
 * - `closed`: its shard gets no more records, and it is not finished
 * - `quiet`: nobody has seen its tip for a quarter of the retention
 * - `unread`: its parents are finished, and it has never been read
 */
export type PatrolReason = 'fenced' | 'closed' | 'quiet' | 'unread';

export interface PatrolVisit {
  readonly operator: string;
  readonly shardId: string;
  readonly reason: PatrolReason;
}

/** Who has committed so recently is at work: a visit would only get in the way, ms. */
const settleMs = 60_000;

const order: readonly PatrolReason[] = ['fenced', 'closed', 'quiet', 'unread'];

/** The channels of a running job that is not held which are to be visited, the most urgent first. */
export function choosePatrol(facts: PatrolFacts): PatrolVisit[] {
  const closed = new Set(facts.shards.flatMap(({ parentIds }) => parentIds));
  const listed = new Set(facts.shards.map(({ shardId }) => shardId));
  const known = new Map(
    facts.channels.map((channel) => [nameOf(channel.operator, channel.shardId), channel]),
  );
  const visits = facts.channels
    // One that has left the stream cannot be read; whether that is a loss is for a restore to say.
    .filter(({ shardId, progress }) => !progress.isFinished && listed.has(shardId))
    .flatMap(({ operator, shardId, progress }) => {
      const reason = judge(facts, progress, closed.has(shardId));
      const sinceMs = progress.checkedAtMs;
      return reason === undefined ? [] : [{ operator, shardId, reason, sinceMs }];
    });
  const unread = facts.operators.flatMap((operator) =>
    facts.shards
      .filter(({ shardId }) => !known.has(nameOf(operator, shardId)))
      .filter(({ parentIds }) =>
        parentIds.every(
          (parent) =>
            !listed.has(parent) || known.get(nameOf(operator, parent))?.progress.isFinished,
        ),
      )
      .map(({ shardId }) => ({ operator, shardId, reason: 'unread' as const, sinceMs: 0 })),
  );
  return [...visits, ...unread]
    .sort(
      (a, b) =>
        order.indexOf(a.reason) - order.indexOf(b.reason) ||
        a.sinceMs - b.sinceMs ||
        compareTexts(nameOf(a.operator, a.shardId), nameOf(b.operator, b.shardId)),
    )
    .map(({ operator, shardId, reason }) => ({ operator, shardId, reason }));
}

function judge(
  { retentionMs, nowMs }: PatrolFacts,
  { fence, committedAtMs, checkedAtMs }: PatrolledChannel['progress'],
  isClosed: boolean,
): PatrolReason | undefined {
  if (fence !== undefined) return 'fenced';
  if (nowMs - committedAtMs < settleMs) return undefined;
  if (isClosed) return 'closed';
  return nowMs - checkedAtMs > retentionMs / 4 ? 'quiet' : undefined;
}

function nameOf(operator: string, shardId: string): string {
  return `${operator}/${shardId}`;
}
