import { DeleteItemCommand, ScanCommand, type ScanCommandOutput } from '@aws-sdk/client-dynamodb';
import type { PlacedRow, SinkTable } from '../../ports/sink.ts';
import { retry } from '../system/backoff.ts';
import { rowIsOf } from './condition-clauses.ts';
import type { TableAccess } from './conditional-write.ts';
import { classifyError, failureError, isPassing, mapDynamodbError } from './map-error.ts';
import { projectionOf } from './projection.ts';
import { sendInRounds } from './send-rounds.ts';
import { bindValues } from './single-writes.ts';
import { provenanceAttributes, readProvenance } from './sink-row.ts';
import { tableKey, type Item, type TableKey } from './table-keys.ts';

type ScanAccess = Omit<TableAccess, 'writeMode'>;

/**
 * The rows of a sink's table. `scan` reads consistently, a page of at most 1 MB at a time, keys and origin alone; what it
 * costs goes by the size of the whole rows. `remove` deletes one row with a request, up to 8 at once; where a reply was
 * lost it is sent again, and a row that has gone by then is not counted.
 *
 * @param keyAttribute the attribute that holds the operator's key
 */
export function createDynamodbSinkTable(
  access: ScanAccess,
  kind: SinkTable['kind'],
  keyAttribute = 'pk',
): SinkTable {
  return {
    kind,

    async *scan(after) {
      const start = after === undefined ? undefined : readMark(after);
      for await (const item of scanItems(access, keyAttribute, start)) {
        // What has no origin is not a sink's: endpoints are probed with items of their own.
        const provenance = readProvenance(item);
        if (provenance === undefined) continue;
        const place = tableKey(item['pk']?.S ?? '', item['sk']?.S ?? '');
        yield {
          ...provenance,
          key: item[keyAttribute]?.S ?? '',
          row: kind === 'upsert' ? place.sk.S : '',
          place,
          mark: writeMark(place),
        };
      }
    },

    remove: (rows) => removeRows(access, rows),
  };
}

/** A scan goes on behind any key, whether there is an item or not. */
function writeMark({ pk, sk }: TableKey): string {
  return JSON.stringify([pk.S, sk.S]);
}

function readMark(mark: string): Item {
  const [pk, sk] = JSON.parse(mark) as [pk: string, sk: string];
  return { ...tableKey(pk, sk) };
}

async function* scanItems(
  { client, table, system, retryPolicy }: ScanAccess,
  keyAttribute: string,
  first: Item | undefined,
): AsyncGenerator<Item, void, undefined> {
  const attributes = [...new Set(['pk', 'sk', keyAttribute, ...provenanceAttributes])];
  let start = first;
  do {
    const command = new ScanCommand({
      TableName: table,
      ...projectionOf(attributes),
      ConsistentRead: true,
      ExclusiveStartKey: start,
    });
    let page: ScanCommandOutput;
    try {
      page = await retry(system, () => client.send(command), isPassing, retryPolicy);
    } catch (error) {
      throw mapDynamodbError(error, `look through sink table ${table}`);
    }
    yield* page.Items ?? [];
    start = page.LastEvaluatedKey;
  } while (start !== undefined);
}

async function removeRows(
  { client, table, system, retryPolicy }: ScanAccess,
  rows: readonly PlacedRow[],
): Promise<number> {
  const doing = `remove rows from sink table ${table}`;
  let removed = 0;

  const send = async (numbers: readonly number[]): Promise<readonly number[]> => {
    const [number] = numbers as [number];
    const { place, generation, id } = rows[number]!;
    const command = new DeleteItemCommand({
      TableName: table,
      // It came from a scan of this table.
      Key: place as TableKey,
      ConditionExpression: rowIsOf.expression,
      ExpressionAttributeNames: rowIsOf.names,
      ExpressionAttributeValues: bindValues([{ N: String(generation) }, { S: id }]),
    });
    try {
      await client.send(command);
      removed += 1;
      return [];
    } catch (error) {
      if (classifyError(error) === 'condition-failed') return [];
      if (isPassing(error)) return numbers;
      throw mapDynamodbError(error, doing);
    }
  };

  await sendInRounds({
    system,
    policy: retryPolicy,
    count: rows.length,
    requestSize: 1,
    send,
    giveUp: (unsettled) =>
      failureError('throttled', doing, `${unsettled} of ${rows.length} deletes were refused`),
  });
  return removed;
}
