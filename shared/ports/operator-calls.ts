import type { OperatorContract } from '../core/manifest.ts';
import type { Position } from '../core/position.ts';

/** How far a visit of a channel goes. */
export type VisitGoal =
  | { readonly kind: 'tip' }
  /** Up to and with this record, its timers fired; a channel that is past it already is there. */
  | { readonly kind: 'position'; readonly position: Position }
  /** To the end of a closed shard, which is then finished. */
  | { readonly kind: 'end' };

export interface VisitOrder {
  readonly shardId: string;
  readonly goal: VisitGoal;
  /** The hold that a replay works under (R6); undefined for a patrol. */
  readonly hold?: string;
  /** Records that have left the stream unread may be missing (R7). @default false */
  readonly acceptsGaps?: boolean;
}

export interface VisitReport {
  readonly isThere: boolean;
  /** Why it is not there yet, or what is wrong; empty where it is there. */
  readonly reason: string;
  /** Trying again without a change elsewhere is of no use: records are lost, or a record blocks the channel. */
  readonly isStuck: boolean;
  readonly position: Position | undefined;
  readonly isFinished: boolean;
  /** Records that this visit committed. */
  readonly records: number;
}

/**
 * What the functions of a job's operators do when they are asked, besides what the trigger delivers to them. Calls can be made
 * again, and beside each other.
 */
export interface OperatorCalls {
  /** What the deployed code is a contract about. */
  describe(operator: string): Promise<OperatorContract>;
  /** Brings a channel forward with the operator's own reader. One call goes as far as its time allows. */
  visit(operator: string, order: VisitOrder): Promise<VisitReport>;
}
