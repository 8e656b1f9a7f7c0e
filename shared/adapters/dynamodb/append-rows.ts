import type { SinkReceipt } from '../../ports/sink.ts';
import { sendBatchWrites } from './batch-writes.ts';
import { generationIsLower } from './condition-clauses.ts';
import type { ConditionalWriter, TableAccess } from './conditional-write.ts';
import { landRows, type LandingRule } from './land-rows.ts';
import type { Item } from './table-keys.ts';

/** Lands items that no later attempt changes, only a higher generation (R10). Twice is once. */
export type RowCreator = (generation: number, items: readonly Item[]) => Promise<SinkReceipt>;

/** @param removable attributes that a row of another generation may have and that go if the new one has them not */
export function createRowCreator(
  access: TableAccess,
  writer: ConditionalWriter,
  options: { readonly removable: readonly string[]; readonly doing: string },
): RowCreator {
  const { removable, doing } = options;
  const rule: LandingRule = {
    replace: { condition: generationIsLower, removable },
    values: (item) => [item['_generation']!],
    isOlder: (there, item) => Number(there['_generation']?.N) < Number(item['_generation']?.N),
    compared: ['_generation'],
    tries: ['create'],
  };
  return async (generation, items) => {
    if (generation > 1) return landRows({ access, writer, rule, doing }, items);
    // Nothing is lower than the first generation: what is there stays.
    const results = await writer.write(
      items.map((item) => ({ kind: 'create', item })),
      { doing, onUnknown: 'resend' },
    );
    const written = results.filter((result) => result === 'done').length;
    return { written, skipped: items.length - written };
  };
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
