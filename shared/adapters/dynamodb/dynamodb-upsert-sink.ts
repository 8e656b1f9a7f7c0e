import { emissionOrder } from '../../core/emission.ts';
import type { Sink, SinkRow, SinkSource, SinkTable } from '../../ports/sink.ts';
import { rowIsOlder } from './condition-clauses.ts';
import type { TableAccess } from './conditional-write.ts';
import { createConditionalWriter } from './conditional-writer.ts';
import { landRows, type LandingRule } from './land-rows.ts';
import { encodeColumns } from './row-attributes.ts';
import { assertColumns, fitWriteMode, provenanceOf } from './sink-row.ts';
import { createDynamodbSinkTable } from './sink-table.ts';
import { tableKey, type Item } from './table-keys.ts';

export interface UpsertSinkOptions extends TableAccess {
  /** The declared columns of the sink. */
  readonly columns: readonly string[];
}

/**
 * A materialised view: `pk` is the operator's key, `sk` the row's name under it. The newest output stays, by generation
 * and order. A removed row stays as one with `_deleted` and no columns, so that an older output cannot bring it back.
 */
export function createDynamodbUpsertSink(options: UpsertSinkOptions): Sink & SinkTable {
  const { table, columns } = options;
  assertColumns(table, columns);
  const writer = createConditionalWriter(fitWriteMode(options, columns));
  const rule: LandingRule = {
    replace: { condition: rowIsOlder, removable: [...columns, '_deleted'] },
    values: ({ _generation, _order }) => [_generation!, _generation!, _order!],
    isOlder,
    compared: ['_generation', '_order'],
    // Mostly the row is there, and older.
    tries: ['replace', 'create'],
  };
  const landing = { access: options, writer, rule, doing: `write rows to sink table ${table}` };

  return {
    ...createDynamodbSinkTable(options, 'upsert'),

    async write(source, rows) {
      const items = newestRows(rows).map((row) => encodeRow(source, row, columns));
      const { written } = await landRows(landing, items);
      // Of several outputs of one row the others were overtaken.
      return { written, skipped: rows.length - written };
    },
  };
}

/** As DynamoDB judges {@link rowIsOlder}: texts by their UTF-8 bytes. */
function isOlder(there: Item, item: Item): boolean {
  const generations = Number(there['_generation']?.N) - Number(item['_generation']?.N);
  if (generations !== 0) return generations < 0;
  return Buffer.compare(orderOf(there), orderOf(item)) < 0;
}

function orderOf(row: Item): Buffer {
  return Buffer.from(row['_order']?.S ?? '');
}

/** Of several outputs of one row only the newest is written: it would replace the others at once. */
function newestRows(rows: readonly SinkRow[]): SinkRow[] {
  const newest = new Map<string, { readonly row: SinkRow; readonly order: string }>();
  for (const row of rows) {
    const name = JSON.stringify([row.key, row.emission.row]);
    const order = emissionOrder(row.emission);
    const other = newest.get(name);
    if (other === undefined || other.order < order) newest.set(name, { row, order });
  }
  return [...newest.values()].map(({ row }) => row);
}

function encodeRow(source: SinkSource, row: SinkRow, columns: readonly string[]): Item {
  const { emission, key } = row;
  const item: Item = {
    ...tableKey(key, emission.row),
    ...provenanceOf(source, row),
    _order: { S: emissionOrder(emission) },
  };
  if (emission.value === null) return { ...item, _deleted: { BOOL: true } };
  return { ...item, ...encodeColumns(emission.value, columns) };
}
