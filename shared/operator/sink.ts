import type { z } from 'zod';

/*
 * Where outputs go. A sink is a table of its own; a row's partition key is the operator's key, so that the rows of one
 * key are ordered by the positions of one channel lineage (P13).
 */

/**
 * - `exactly-once`: every output has a deterministic id and lands once, whatever crashes or is delivered twice.
 * - `at-least-once`: rows get a fresh id with each attempt, so that a crash can double them. Cheaper: no conditions.
 */
export type DeliveryGuarantee = 'exactly-once' | 'at-least-once';

export interface AppendSinkDescriptor<Row> {
  readonly kind: 'append';
  readonly row: z.ZodType<Row>;
  readonly columns: readonly string[];
  readonly delivery: DeliveryGuarantee;
}

export interface UpsertSinkDescriptor<Row> {
  readonly kind: 'upsert';
  readonly row: z.ZodType<Row>;
  readonly columns: readonly string[];
  /** The sort key of a row under its operator key. */
  rowKey(row: Row): string;
}

export type SinkDescriptor = AppendSinkDescriptor<unknown> | UpsertSinkDescriptor<unknown>;

export type SinkDescriptors = Readonly<Record<string, SinkDescriptor>>;

/** Each output becomes a row that is never changed. */
export function appendSink<Shape extends z.core.$ZodLooseShape>(options: {
  readonly row: z.ZodObject<Shape>;
  /** @default 'exactly-once' */
  readonly delivery?: DeliveryGuarantee;
}): AppendSinkDescriptor<z.output<z.ZodObject<Shape>>> {
  return {
    kind: 'append',
    row: options.row,
    columns: columnsOf(options.row),
    delivery: options.delivery ?? 'exactly-once',
  };
}

/** The sort key of upsert rows where a key has only one. */
export const onlyRow = '-';

/**
 * A materialised view: each output replaces the row with the same key. There is one row for each operator key, or
 * several with `rowKey`.
 */
export function upsertSink<Shape extends z.core.$ZodLooseShape>(options: {
  readonly row: z.ZodObject<Shape>;
  /**
   * Which of the key's rows an output replaces: a non-empty text of at most 340 characters.
   *
   * @default one row for each operator key
   */
  readonly rowKey?: (row: z.output<z.ZodObject<Shape>>) => string;
}): UpsertSinkDescriptor<z.output<z.ZodObject<Shape>>> {
  return {
    kind: 'upsert',
    row: options.row,
    columns: columnsOf(options.row),
    rowKey: options.rowKey ?? (() => onlyRow),
  };
}

const reservedColumns = new Set(['pk', 'sk']);

function columnsOf(row: z.ZodObject): string[] {
  const columns = Object.keys(row.shape);
  for (const column of columns) {
    if (
      reservedColumns.has(column) ||
      column.startsWith('_') ||
      !/^[A-Za-z][A-Za-z0-9_]*$/.test(column)
    ) {
      throw new RangeError(
        `sink column ${JSON.stringify(column)}: expected letters, digits and "_", beginning with a letter, and neither "pk" nor "sk", which hold the row's key`,
      );
    }
  }
  return columns;
}

type RowOf<D> =
  D extends AppendSinkDescriptor<infer Row>
    ? Row
    : D extends UpsertSinkDescriptor<infer Row>
      ? Row
      : never;

/** One output of an operator: the sink's name and the row. */
export type Output<Sinks> = {
  readonly [Name in keyof Sinks & string]: {
    readonly sink: Name;
    readonly row: RowOf<Sinks[Name]>;
  };
}[keyof Sinks & string];

/** Takes a row out of an upsert sink: the operator's only one, or the one with this sort key. */
export type Removal<Sinks> = {
  readonly [Name in keyof Sinks & string]: Sinks[Name] extends UpsertSinkDescriptor<infer _Row>
    ? { readonly sink: Name; readonly remove: true; readonly rowKey?: string }
    : never;
}[keyof Sinks & string];
