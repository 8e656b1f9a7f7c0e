import type { SinkReceipt } from '../../ports/sink.ts';
import { sendBatchWrites } from './batch-writes.ts';
import type { ConditionalWriter, TableAccess } from './conditional-write.ts';
import type { Item } from './table-keys.ts';

/** Creates items that are never changed; those that are there already are skipped. Twice is once. */
export async function createRows(
  writer: ConditionalWriter,
  items: readonly Item[],
  doing: string,
): Promise<SinkReceipt> {
  const results = await writer.write(
    items.map((item) => ({ kind: 'create', item })),
    { doing, onUnknown: 'resend' },
  );
  const written = results.filter((result) => result === 'done').length;
  return { written, skipped: items.length - written };
}

/** Puts items without a condition. */
export async function putRows(
  access: TableAccess,
  items: readonly Item[],
  doing: string,
): Promise<SinkReceipt> {
  const puts = items.map((Item) => ({ PutRequest: { Item } }));
  await sendBatchWrites(access, puts, { doing, things: 'rows' });
  return { written: items.length, skipped: 0 };
}
