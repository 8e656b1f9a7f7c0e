import { emissionOrder } from '../../core/emission.ts';
import type { Position } from '../../core/position.ts';
import type { DeliveryGuarantee } from '../../operator/sink.ts';
import type { PlacedRow, Sink, SinkRow, SinkSource, SinkTable } from '../../ports/sink.ts';

/** A row as a sink's table holds it. */
export interface MemorySinkRow {
  readonly key: string;
  /** Upsert: the row's name under its key. Append: empty. */
  readonly row: string;
  readonly id: string;
  /** Orders the rows of one key and one origin. */
  readonly order: string;
  readonly position: Position;
  readonly source: SinkSource;
  /** Null for a removed upsert row. */
  readonly value: unknown;
}

export interface MemorySink extends Sink, SinkTable {
  /** Copies of all rows, in order of key, row, origin and position; removed upsert rows are left out. */
  rows(): MemorySinkRow[];
  /** Copies of the rows that say that an upsert row was removed. */
  removedRows(): MemorySinkRow[];
}

export interface MemoryAppendSinkOptions {
  /** @default 'exactly-once' */
  readonly delivery?: DeliveryGuarantee;
  /**
   * The id that a row is stored under: of rows with one id the first stays.
   *
   * @default that of the output, by which rows are told apart where they were made (P13)
   */
  readonly idOf?: (row: SinkRow) => string;
}

/**
 * Rows that no later attempt changes: each lands once, or with `at-least-once` as often as it is written. Only a higher
 * generation replaces one (R10).
 */
export function createMemoryAppendSink(options: MemoryAppendSinkOptions = {}): MemorySink {
  const table = new Map<string, MemorySinkRow>();
  const { idOf } = options;
  const isOnce = options.delivery !== 'at-least-once';
  let attempts = 0;

  return {
    kind: 'append',
    async write(source, rows) {
      let written = 0;
      for (const row of rows) {
        const order = emissionOrder(row.emission);
        attempts += 1;
        const id = idOf?.(row);
        const place = [row.key, source.origin, id ?? order];
        const name = JSON.stringify(isOnce ? place : [...place, attempts]);
        const there = table.get(name);
        if (there !== undefined && there.source.generation >= source.generation) continue;
        table.set(name, makeRow(source, id === undefined ? row : { ...row, id }, order));
        written += 1;
      }
      return { written, skipped: rows.length - written };
    },
    ...exposeRows(table),
  };
}

/** A materialised view: the newest output of each row stays, by generation and order. */
export function createMemoryUpsertSink(): MemorySink {
  const table = new Map<string, MemorySinkRow>();

  return {
    kind: 'upsert',

    async write(source, rows) {
      const touched = new Set<string>();
      for (const row of rows) {
        const name = JSON.stringify([row.key, row.emission.row]);
        const candidate = makeRow(source, row, emissionOrder(row.emission));
        const there = table.get(name);
        if (there !== undefined && !isNewer(candidate, there)) continue;
        table.set(name, candidate);
        touched.add(name);
      }
      // Of several rows of one name only the last is written; the others were overtaken.
      return { written: touched.size, skipped: rows.length - touched.size };
    },
    ...exposeRows(table),
  };
}

function isNewer(candidate: MemorySinkRow, there: MemorySinkRow): boolean {
  const generations = candidate.source.generation - there.source.generation;
  return generations === 0 ? candidate.order > there.order : generations > 0;
}

function makeRow(source: SinkSource, { emission, key, id }: SinkRow, order: string): MemorySinkRow {
  const { row, position, value } = emission;
  return structuredClone({ key, row, id, order, position, source, value });
}

function exposeRows(table: Map<string, MemorySinkRow>) {
  const select = (isRemoved: boolean): MemorySinkRow[] =>
    [...table.values()]
      .filter(({ value }) => (value === null) === isRemoved)
      .sort(compareRows)
      .map((row) => structuredClone(row));
  return {
    rows: () => select(false),
    removedRows: () => select(true),

    async *scan(after = ''): AsyncIterable<PlacedRow> {
      for (const name of [...table.keys()].sort(compareTexts)) {
        if (compareTexts(name, after) <= 0) continue;
        const there = table.get(name);
        if (there === undefined) continue;
        const { key, row, id, position, source } = there;
        const { generation, channel } = source;
        const placed = { place: name, mark: name };
        yield structuredClone({ key, row, id, generation, channel, position, ...placed });
      }
    },

    async remove(rows: readonly PlacedRow[]): Promise<number> {
      let removed = 0;
      for (const { place, generation, id } of rows) {
        const name = place as string;
        const there = table.get(name);
        if (there?.source.generation !== generation || there.id !== id) continue;
        table.delete(name);
        removed += 1;
      }
      return removed;
    },
  };
}

function compareRows(a: MemorySinkRow, b: MemorySinkRow): number {
  return (
    compareTexts(a.key, b.key) ||
    compareTexts(a.row, b.row) ||
    compareTexts(a.source.origin, b.source.origin) ||
    compareTexts(a.order, b.order)
  );
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
