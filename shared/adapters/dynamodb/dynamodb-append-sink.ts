import { emissionOrder } from '../../core/emission.ts';
import type { DeliveryGuarantee } from '../../operator/sink.ts';
import type { Sink, SinkRow, SinkSource, SinkTable } from '../../ports/sink.ts';
import { createRowCreator, putRows } from './append-rows.ts';
import type { TableAccess } from './conditional-write.ts';
import { createConditionalWriter } from './conditional-writer.ts';
import { encodeColumns } from './row-attributes.ts';
import { assertColumns, fitWriteMode, provenanceOf } from './sink-row.ts';
import { createDynamodbSinkTable } from './sink-table.ts';
import { appendRowSort, tableKey, type Item } from './table-keys.ts';

export interface AppendSinkOptions extends TableAccess {
  /** The declared columns of the sink. */
  readonly columns: readonly string[];
  /** @default 'exactly-once' */
  readonly delivery?: DeliveryGuarantee;
}

/**
 * Rows that only a higher generation changes (R10): `pk` is the operator's key, `sk` the origin and the place of the output in it, so that a
 * query reads a key's rows in order. With `at-least-once` each attempt writes rows of its own.
 */
export function createDynamodbAppendSink(options: AppendSinkOptions): Sink & SinkTable {
  const { table, columns, system, delivery = 'exactly-once' } = options;
  assertColumns(table, columns);
  const writer = createConditionalWriter(fitWriteMode(options, columns));
  const doing = `write rows to sink table ${table}`;
  const createRows = createRowCreator(options, writer, { removable: columns, doing });

  const encodeRow = (source: SinkSource, row: SinkRow, suffix: string): Item => ({
    ...tableKey(row.key, appendRowSort(source.origin, emissionOrder(row.emission)) + suffix),
    ...provenanceOf(source, row),
    ...encodeColumns(row.emission.value, columns),
  });

  return {
    ...createDynamodbSinkTable(options, 'append'),

    async write(source, rows) {
      if (delivery === 'exactly-once') {
        const items = rows.map((row) => encodeRow(source, row, ''));
        return createRows(source.generation, items);
      }
      const suffix = `#${system.randomId()}`;
      const items = rows.map((row) => encodeRow(source, row, suffix));
      return putRows(options, items, doing);
    },
  };
}
