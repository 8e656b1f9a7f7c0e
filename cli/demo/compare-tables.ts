import { isDeepStrictEqual } from 'node:util';
import { paginateScan, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { PlainResult } from './plain-computation.ts';

/** What the job's tables and the plain computation say. */
export interface Comparison {
  readonly airports: number;
  readonly alerts: number;
  /** One line for each row that differs, is missing or is too many. */
  readonly differences: readonly string[];
}

export interface SinkTables {
  readonly airports: string;
  readonly alerts: string;
  readonly deadLetters: string;
}

type Row = Readonly<Record<string, unknown>>;

/** Compares the sink tables with the plain computation, row by row and both ways. */
export async function compareTables(
  client: DynamoDBClient,
  tables: SinkTables,
  plain: PlainResult,
): Promise<Comparison> {
  const [airports, alerts, deadLetters] = await Promise.all([
    scanTable(client, tables.airports),
    scanTable(client, tables.alerts),
    scanTable(client, tables.deadLetters),
  ]);
  const differences = deadLetters.map((row) => `dead letter: ${String(row['message'])}`);
  const found = new Map(airports.map((row) => [String(row['pk']), columnsOf(row)]));
  for (const airport of new Set([...plain.airports.keys(), ...found.keys()])) {
    const expected = plain.airports.get(airport);
    if (!isDeepStrictEqual(found.get(airport), expected)) {
      differences.push(differ(`airport ${airport}`, found.get(airport), expected));
    }
  }
  const foundAlerts = Map.groupBy(alerts, (row) => String(row['pk']));
  for (const airport of new Set([...plain.alerts.keys(), ...foundAlerts.keys()])) {
    const rows = (foundAlerts.get(airport) ?? []).sort(bySortKey).map(columnsOf);
    const expected = plain.alerts.get(airport) ?? [];
    if (!isDeepStrictEqual(rows, expected)) {
      differences.push(differ(`alerts of ${airport}`, rows, expected));
    }
  }
  return { airports: airports.length, alerts: alerts.length, differences };
}

async function scanTable(client: DynamoDBClient, table: string): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const page of paginateScan({ client }, { TableName: table, ConsistentRead: true })) {
    for (const item of page.Items ?? []) rows.push(unmarshall(item));
  }
  return rows;
}

/** Sequence numbers of a shard's children are greater than its own, so the order of a key's rows is that of its events. */
function bySortKey(a: Row, b: Row): number {
  return String(a['sk']) < String(b['sk']) ? -1 : 1;
}

/** What the operator wrote, without the row's key and what Holdfast adds. */
function columnsOf(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).filter(([name]) => name !== 'pk' && name !== 'sk' && !name.startsWith('_')),
  );
}

function differ(what: string, found: unknown, expected: unknown): string {
  return `${what}: the table has ${JSON.stringify(found) ?? 'nothing'}, expected ${JSON.stringify(expected) ?? 'nothing'}`;
}
