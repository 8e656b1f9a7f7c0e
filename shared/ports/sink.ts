import type { Emission } from '../core/emission.ts';

/** An output on its way into a sink. */
export interface SinkRow {
  readonly emission: Emission;
  /** The operator's key; the row's partition key. */
  readonly key: string;
  /** Deterministic id (P13). */
  readonly id: string;
}

/** Where the rows of one call come from; every row carries it (R10). */
export interface SinkSource {
  readonly job: string;
  readonly operator: string;
  readonly generation: number;
  readonly channel: string;
  readonly origin: string;
}

export interface SinkReceipt {
  /** Rows that this call wrote. */
  readonly written: number;
  /** Rows that were there already, from an earlier attempt or a newer output. */
  readonly skipped: number;
}

/**
 * Takes outputs. Called any number of times for the same row, in any order, also by attempts that have long been given
 * up: a row lands once (append), or the newest output of the row's key stays (upsert). Returns after every row is
 * acknowledged; throws `unavailable` where that cannot be had, and the call is made again.
 */
export interface Sink {
  write(source: SinkSource, rows: readonly SinkRow[]): Promise<SinkReceipt>;
}
