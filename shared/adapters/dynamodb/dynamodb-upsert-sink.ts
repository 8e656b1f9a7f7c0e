import { emissionOrder } from '../../core/emission.ts';
import type { Sink, SinkRow, SinkSource } from '../../ports/sink.ts';
import { rowIsOlder } from './condition-clauses.ts';
import type {
  ConditionalWrite,
  ConditionalWriter,
  ReplaceRule,
  TableAccess,
} from './conditional-write.ts';
import { createConditionalWriter } from './conditional-writer.ts';
import { encodeColumns } from './row-attributes.ts';
import { assertColumns, fitWriteMode, provenanceOf } from './sink-row.ts';
import { tableKey, type Item } from './table-keys.ts';

export interface UpsertSinkOptions extends TableAccess {
  /** The declared columns of the sink. */
  readonly columns: readonly string[];
}

/**
 * A materialised view: `pk` is the operator's key, `sk` the row's name under it. The newest output stays, by generation
 * and order. A removed row stays as one with `_deleted` and no columns, so that an older output cannot bring it back.
 */
export function createDynamodbUpsertSink(options: UpsertSinkOptions): Sink {
  const { table, columns } = options;
  assertColumns(table, columns);
  const writer = createConditionalWriter(fitWriteMode(options, columns));
  const rule: ReplaceRule = { condition: rowIsOlder, removable: [...columns, '_deleted'] };

  return {
    async write(source, rows) {
      const items = newestRows(rows).map((row) => encodeRow(source, row, columns));
      const written = await upsert(writer, items, rule, `write rows to sink table ${table}`);
      return { written, skipped: rows.length - written };
    },
  };
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

/**
 * Replaces older rows; what is refused is either newer or not there: creates it; where somebody else did so in between,
 * replaces that if it is older. Rows are never removed, so a second refusal means that the row there is not older.
 *
 * @returns how many rows were written
 */
async function upsert(
  writer: ConditionalWriter,
  items: readonly Item[],
  rule: ReplaceRule,
  doing: string,
): Promise<number> {
  const replace = (item: Item): ConditionalWrite => {
    const generation = item['_generation']!;
    return { kind: 'replace', item, rule, values: [generation, generation, item['_order']!] };
  };
  const create = (item: Item): ConditionalWrite => ({ kind: 'create', item });

  let open = items;
  for (const write of [replace, create, replace]) {
    const results = await writer.write(open.map(write), { doing, onUnknown: 'resend' });
    open = open.filter((_, at) => results[at] !== 'done');
    if (open.length === 0) break;
  }
  return items.length - open.length;
}
