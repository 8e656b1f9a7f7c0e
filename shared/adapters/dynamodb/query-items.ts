import { QueryCommand, type QueryCommandOutput } from '@aws-sdk/client-dynamodb';
import { retry } from '../system/backoff.ts';
import type { TableAccess } from './conditional-write.ts';
import { isPassing, mapDynamodbError } from './map-error.ts';
import type { Item, SortRange } from './table-keys.ts';

/** By how much the pages grow of who hopes that the first is enough. */
const pageGrowth = 4;

/** More small items than this do not fit into the 1 MB that a page can have. */
const pageItemsMax = 10_000;

export interface ItemQuery {
  readonly partition: string;
  /** Sort keys of the items, both ends included. @default all */
  readonly sorts?: SortRange;
  /** What to read of each item. @default everything */
  readonly attributes?: readonly string[];
  /** How many items to begin with; each further page is four times as long. @default as many as fit into 1 MB */
  readonly firstPageItems?: number;
  /** For errors, say `list the channels of job j`. */
  readonly doing: string;
}

/** The items of a partition in order of their sort keys, by consistent reads: a page when it is needed. */
export async function* queryItems(
  { client, table, system, retryPolicy }: Omit<TableAccess, 'writeMode'>,
  { partition, sorts, attributes, firstPageItems, doing }: ItemQuery,
): AsyncGenerator<Item, void, undefined> {
  let pageItems = firstPageItems;
  let start: Item | undefined;
  do {
    const command = new QueryCommand({
      TableName: table,
      KeyConditionExpression:
        sorts === undefined ? 'pk = :pk' : 'pk = :pk AND sk BETWEEN :s0 AND :s1',
      ExpressionAttributeValues: {
        ':pk': { S: partition },
        ...(sorts === undefined ? {} : { ':s0': { S: sorts[0] }, ':s1': { S: sorts[1] } }),
      },
      ProjectionExpression: attributes?.join(),
      ConsistentRead: true,
      Limit: pageItems,
      ExclusiveStartKey: start,
    });
    let page: QueryCommandOutput;
    try {
      page = await retry(system, () => client.send(command), isPassing, retryPolicy);
    } catch (error) {
      throw mapDynamodbError(error, `${doing} from table ${table}`);
    }
    yield* page.Items ?? [];
    start = page.LastEvaluatedKey;
    if (pageItems !== undefined) pageItems = Math.min(pageItems * pageGrowth, pageItemsMax);
  } while (start !== undefined);
}
