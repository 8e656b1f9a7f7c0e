import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { SinkReceipt } from '../../ports/sink.ts';
import { defaultRetryPolicy, pauseAfter } from '../system/backoff.ts';
import { nameOfItem, readItems } from './batch-reads.ts';
import type {
  ConditionalWrite,
  ConditionalWriter,
  ReplaceRule,
  TableAccess,
} from './conditional-write.ts';
import { failureError } from './map-error.ts';
import { tableKey, type Item } from './table-keys.ts';

/** How the rows of a sink replace each other. */
export interface LandingRule {
  readonly replace: ReplaceRule;
  /** The values of its condition. */
  values(item: Item): readonly AttributeValue[];
  /** The same condition, of a row that was read. */
  isOlder(there: Item, item: Item): boolean;
  /** Which attributes `isOlder` looks at. */
  readonly compared: readonly string[];
  /** Which writes are tried before anything is read. */
  readonly tries: readonly ('create' | 'replace')[];
}

export interface Landing {
  readonly access: TableAccess;
  readonly writer: ConditionalWriter;
  readonly rule: LandingRule;
  /** For errors, say `write rows to sink table t`. */
  readonly doing: string;
}

/**
 * Writes rows so that each ends up in the table, or something that is not older does. A refusal does not say which: rows
 * of abandoned generations are swept meanwhile, and late attempts insert them again (R10), so what was refused is looked
 * at before it counts as skipped. Twice is once. A row must occur once in a call.
 */
export async function landRows(
  { access, writer, rule, doing }: Landing,
  items: readonly Item[],
): Promise<SinkReceipt> {
  const create = (item: Item): ConditionalWrite => ({ kind: 'create', item });
  const replace = (item: Item): ConditionalWrite => ({
    kind: 'replace',
    item,
    rule: rule.replace,
    values: rule.values(item),
  });
  let written = 0;
  const send = async (writes: readonly ConditionalWrite[], rows: readonly Item[]) => {
    const results = await writer.write(writes, { doing, onUnknown: 'resend' });
    const refused = rows.filter((_, at) => results[at] !== 'done');
    written += rows.length - refused.length;
    return refused;
  };

  let open = items;
  for (const kind of rule.tries) {
    open = await send(open.map(kind === 'create' ? create : replace), open);
  }
  const policy = access.retryPolicy ?? defaultRetryPolicy;
  for (let round = 0; open.length > 0; round += 1) {
    if (round === policy.attemptsMax) {
      throw failureError(
        'transaction-conflict',
        doing,
        `${open.length} rows came and went meanwhile`,
      );
    }
    if (round > 0) await pauseAfter(access.system, round - 1, policy);
    const there = await readRows(access, open, rule.compared, doing);
    const rows: Item[] = [];
    const writes: ConditionalWrite[] = [];
    for (const item of open) {
      const row = there.get(nameOfItem(item));
      if (row !== undefined && !rule.isOlder(row, item)) continue;
      rows.push(item);
      writes.push(row === undefined ? create(item) : replace(item));
    }
    open = await send(writes, rows);
  }
  return { written, skipped: items.length - written };
}

async function readRows(
  access: TableAccess,
  items: readonly Item[],
  compared: readonly string[],
  doing: string,
): Promise<Map<string, Item>> {
  const there = new Map<string, Item>();
  const keys = items.map(({ pk, sk }) => tableKey(pk?.S ?? '', sk?.S ?? ''));
  await readItems(access, keys, { doing, attributes: ['pk', 'sk', ...compared] }, (item) => {
    there.set(nameOfItem(item), item);
  });
  return there;
}
