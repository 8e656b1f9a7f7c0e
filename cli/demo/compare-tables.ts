import { isDeepStrictEqual } from 'node:util';
import { paginateScan, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { PlainResult } from './plain-computation.ts';

/** What the job's tables and the plain computation say. */
export interface Comparison {
  readonly airports: number;
  readonly alerts: number;
  readonly hours: number;
  /** Flights that came when their hour was over. */
  readonly late: number;
  /** One line for each row that differs, is missing or is too many. */
  readonly differences: readonly string[];
}

export interface SinkTables {
  readonly airports: string;
  readonly alerts: string;
  readonly hours: string;
  readonly late: string;
  readonly deadLetters: string;
}

type Row = Readonly<Record<string, unknown>>;

/** Compares the sink tables with the plain computation, row by row and both ways. */
export async function compareTables(
  client: DynamoDBClient,
  tables: SinkTables,
  plain: PlainResult,
): Promise<Comparison> {
  const [airports, alerts, hours, late, deadLetters] = await Promise.all([
    scanTable(client, tables.airports),
    scanTable(client, tables.alerts),
    scanTable(client, tables.hours),
    scanTable(client, tables.late),
    scanTable(client, tables.deadLetters),
  ]);
  const differences = [
    ...deadLetters.map((row) => `dead letter: ${String(row['message'])}`),
    ...late.map((row) => `late flight of ${String(row['pk'])}: ${JSON.stringify(columnsOf(row))}`),
    ...compareMaps('airport', mapOnlyRows(airports), plain.airports),
    ...compareMaps('alerts of', groupRows(alerts), plain.alerts),
    ...compareHours(groupRows(hours), plain.hours),
  ];
  return {
    airports: airports.length,
    alerts: alerts.length,
    hours: hours.length,
    late: late.length,
    differences,
  };
}

function compareMaps(
  what: string,
  found: ReadonlyMap<string, unknown>,
  expected: ReadonlyMap<string, unknown>,
): string[] {
  return [...new Set([...expected.keys(), ...found.keys()])]
    .filter((key) => !isDeepStrictEqual(found.get(key), expected.get(key)))
    .map((key) => differ(`${what} ${key}`, found.get(key), expected.get(key)));
}

/** An airport has too many hours to show them all: those that differ are shown, each with all its rows. */
function compareHours(
  found: ReadonlyMap<string, readonly Row[]>,
  expected: PlainResult['hours'],
): string[] {
  return [...new Set([...expected.keys(), ...found.keys()])].flatMap((airport) => {
    const rows = found.get(airport) ?? [];
    const wanted = expected.get(airport) ?? [];
    if (isDeepStrictEqual(rows, wanted)) return [];
    const differing = compareMaps(
      `hour of ${airport}`,
      Map.groupBy(rows, (row) => String(row['hour'])),
      Map.groupBy(wanted, ({ hour }) => hour),
    );
    return differing.length > 0
      ? differing
      : [`hours of ${airport}: the table has them in another order`];
  });
}

/** The one row of each airport. */
function mapOnlyRows(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [String(row['pk']), columnsOf(row)]));
}

/** The rows of each airport in order, without their keys. */
function groupRows(rows: readonly Row[]): Map<string, Row[]> {
  const groups = Map.groupBy(rows, (row) => String(row['pk']));
  return new Map(
    [...groups].map(([airport, group]) => [airport, group.sort(bySortKey).map(columnsOf)]),
  );
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
