import { paginateScan, UpdateItemCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { CountedEvent, Totals } from './counting-operator.ts';
import { createTable } from './counting-job.ts';

/** A table of totals as people write it by hand: an item for each key, and one update for each event. */
export interface TotalsTable {
  create(): Promise<void>;
  add(event: CountedEvent): Promise<void>;
  read(): Promise<Map<string, Totals>>;
}

export function createTotalsTable(client: DynamoDBClient, table: string): TotalsTable {
  return {
    create: () => createTable(client, table, ['key']),

    async add({ key, amount }) {
      await client.send(
        new UpdateItemCommand({
          TableName: table,
          Key: { key: { S: key } },
          UpdateExpression: 'ADD #count :one, #sum :amount',
          ExpressionAttributeNames: { '#count': 'count', '#sum': 'sum' },
          ExpressionAttributeValues: { ':one': { N: '1' }, ':amount': { N: String(amount) } },
        }),
      );
    },

    async read() {
      const totals = new Map<string, Totals>();
      for await (const { Items = [] } of paginateScan({ client }, { TableName: table })) {
        for (const { key, count, sum } of Items) {
          totals.set(key!.S!, { count: Number(count!.N), sum: Number(sum!.N) });
        }
      }
      return totals;
    },
  };
}
