import { QueryCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { readItems } from '../../../shared/adapters/dynamodb/batch-reads.ts';
import { sendBatchWrites } from '../../../shared/adapters/dynamodb/batch-writes.ts';
import { queryItems } from '../../../shared/adapters/dynamodb/query-items.ts';
import { tableKey, type Item } from '../../../shared/adapters/dynamodb/table-keys.ts';
import { firstDifference, type Probe } from '../finding.ts';
import type { TableBed } from './table-bed.ts';

const writing = { doing: 'probe', things: 'items' };

/** Of an item of which a few make 1 MB. Items may have 400 KB. */
const largeBytes = 300_000;

/** The probes put a hundred or two items into their table. */
const scanPagesMax = 100;

const batchReads: Probe<TableBed> = {
  capability: 'consistent reads of 100 items at once',
  need: { kind: 'needed', text: 'the state of a unit' },
  run: async (bed) => {
    const keys = Array.from({ length: 100 }, (_, at) => tableKey('reads', String(at)));
    const there = keys.filter((_, at) => at % 2 === 0);
    await putAll(
      bed,
      there.map((key) => ({ ...key, v: { S: key.sk.S }, b: { B: new Uint8Array([0, 255]) } })),
    );
    const found: Item[] = [];
    const options = { doing: 'probe', attributes: ['sk', 'v', 'b'] };
    await readItems(bed, keys, options, (item) => void found.push(item));
    const sound = found.filter(
      ({ sk, v, b, pk }) =>
        pk === undefined && v?.S === sk?.S && Buffer.from(b?.B ?? []).equals(Buffer.of(0, 255)),
    );
    return firstDifference(
      [
        found.length === there.length,
        `the ${there.length} of 100 that are there`,
        `${found.length}`,
      ],
      [
        sound.length === found.length,
        'the attributes that were asked for, and no other',
        `${found.length - sound.length} items with others`,
      ],
    );
  },
};

const queries: Probe<TableBed> = {
  capability: 'queries in order, between keys and page by page',
  need: { kind: 'needed', text: 'channels, timers and state by key group' },
  run: async (bed) => {
    const sorts = ['a', 'B', 'a-', 'é', 'aa', 'b', '~', '😀'];
    await putAll(
      bed,
      sorts.map((sk) => tableKey('query', sk)),
    );
    const read = async (range?: readonly [string, string]): Promise<string> => {
      const found: string[] = [];
      const query = { partition: 'query', firstPageItems: 1, doing: 'probe' };
      const rows = queryItems(bed, { ...query, ...(range && { sorts: range }) });
      for await (const { sk } of rows) found.push(sk?.S ?? '?');
      return found.join(' ');
    };
    const all = [...sorts].sort((one, other) =>
      Buffer.compare(Buffer.from(one), Buffer.from(other)),
    );
    const [found, between] = [await read(), await read(['a', 'b'])];
    return firstDifference(
      [found === all.join(' '), `in order of bytes: ${all.join(' ')}`, found],
      [between === 'a a- aa b', 'between a and b, both included: a a- aa b', between],
    );
  },
};

const scans: Probe<TableBed> = {
  capability: 'scans that go on behind any key',
  need: { kind: 'needed', text: 'a restore sweeps sinks in parts' },
  run: async (bed) => {
    const { client, table } = bed;
    const sorts = Array.from({ length: 30 }, (_, at) => String(at));
    await putAll(
      bed,
      sorts.map((sk) => tableKey(`scan ${sk}`, sk)),
    );
    const seen = new Set<string>();
    let pages = 0;
    let start: Item | undefined;
    do {
      const page = await client.send(
        new ScanCommand({
          TableName: table,
          ...{ ConsistentRead: true, Limit: 7, ExclusiveStartKey: start },
        }),
      );
      for (const { pk } of page.Items ?? []) seen.add(pk?.S ?? '');
      start = page.LastEvaluatedKey;
      pages += 1;
    } while (start !== undefined && pages < scanPagesMax);
    const lost = sorts.filter((sk) => !seen.has(`scan ${sk}`));
    return firstDifference(
      [pages > 1 && pages < scanPagesMax, 'several pages with an end', `${pages} pages`],
      [lost.length === 0, 'every item', `${lost.length} of ${sorts.length} not found`],
    );
  },
};

const pageSizes: Probe<TableBed> = {
  capability: 'pages end at 1 MB',
  need: { kind: 'optional', text: 'without it a page may be as large as its partition' },
  run: async (bed) => {
    const large = { B: new Uint8Array(largeBytes) };
    const items = Array.from({ length: 5 }, (_, at) => ({
      ...tableKey('large', String(at)),
      large,
    }));
    for (const item of items) await putAll(bed, [item]);
    const reply = await bed.client.send(
      new QueryCommand({
        TableName: bed.table,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': { S: 'large' } },
        ConsistentRead: true,
      }),
    );
    const count = reply.Items?.length ?? 0;
    return firstDifference([
      reply.LastEvaluatedKey !== undefined && count < items.length,
      `a page with 3 or 4 of ${items.length} items of 300 KB`,
      `${count} of them`,
    ]);
  },
};

export const readProbes = [batchReads, queries, scans, pageSizes];

async function putAll(bed: TableBed, items: readonly Item[]): Promise<void> {
  await sendBatchWrites(
    bed,
    items.map((item) => ({ PutRequest: { Item: item } })),
    writing,
  );
}
