import type { Emission } from '../core/emission.ts';
import type { Position } from '../core/position.ts';

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

/** A row as it lies in a sink, with where it comes from (R10). */
export interface PlacedRow {
  /** The operator's key. */
  readonly key: string;
  /** Upsert sinks: the row's name under its key. */
  readonly row: string;
  readonly id: string;
  readonly generation: number;
  /** `channelId` of the channel that made it. */
  readonly channel: string;
  readonly position: Position;
  /** What names the row in its store; means something to the sink alone. */
  readonly place: unknown;
  /** From which a later scan goes on behind this row, also where it has gone meanwhile; means something to the sink alone. */
  readonly mark: string;
}

/** A sink whose rows can be looked through. */
export interface SinkTable {
  readonly kind: 'append' | 'upsert';
  /**
   * All rows, removed upsert rows too, in an order of the table's own that does not change. Rows that come or go meanwhile may be
   * missed: callers go on until a pass finds none.
   *
   * @param after the mark of a row: only those behind it. @default from the beginning
   */
  scan(after?: string): AsyncIterable<PlacedRow>;
  /** Removes rows, each only while it is still of the generation and the id that were read. Returns how many went. */
  remove(rows: readonly PlacedRow[]): Promise<number>;
}

/** A sink whose void rows can be swept (R10). */
export interface SweptSink {
  readonly operator: string;
  /** The sink's name in its operator. */
  readonly name: string;
  readonly table: SinkTable;
  /** Writes into the same table. */
  readonly sink: Sink;
}

/**
 * Takes outputs. Called any number of times for the same row, in any order, also by attempts that have long been given
 * up: a row lands once (append), or the newest output of the row's key stays (upsert). In either kind a row of a lower
 * generation is replaced, and one of a higher generation stays (R10). Returns after every row is acknowledged; throws
 * `unavailable` where that cannot be had, and the call is made again.
 */
export interface Sink {
  write(source: SinkSource, rows: readonly SinkRow[]): Promise<SinkReceipt>;
}
