import { paginateScan } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { createS3ObjectStore } from '../../../shared/adapters/s3/s3-object-store.ts';
import { nodeSystem } from '../../../shared/adapters/system/node-system.ts';
import { openControlStore } from '../../../shared/composition/aws/control-store.ts';
import { compareTexts, parsePosition } from '../../../shared/core/position.ts';
import { createRowRule, type RowOrigin, type RowRule } from '../../../shared/core/row-validity.ts';
import { readManifest } from '../../../shared/runtime/checkpoint/take-manifest.ts';
import { manifestName } from '../../../shared/runtime/object-names.ts';
import type { JobPorts } from '../../../shared/runtime/job-ports.ts';
import { readWay } from '../../../shared/runtime/restore/reservation.ts';
import { compareTables, type Comparison } from '../../../cli/demo/compare-tables.ts';
import type { PlainResult } from '../../../cli/demo/plain-computation.ts';
import { isWithin, type Cut, type FlightTables } from './flight-history.ts';
import { flightsJob, type FlightsAws } from './flights-aws.ts';

/** A row of a sink, as it lies in its table. */
export interface StoredRow extends RowOrigin {
  readonly airport: string;
  readonly sort: string;
  readonly columns: Readonly<Record<string, unknown>>;
}

/** All rows of the sinks, void ones included. */
export interface StoredRows {
  readonly airports: readonly StoredRow[];
  readonly alerts: readonly StoredRow[];
  readonly hours: readonly StoredRow[];
}

export async function readSinks(flights: FlightsAws): Promise<StoredRows> {
  const [airports, alerts, hours] = await Promise.all(
    ['Airports', 'Alerts', 'Hours'].map((name) => scanSink(flights, flights.output(name))),
  );
  return { airports: airports!, alerts: alerts!, hours: hours! };
}

async function scanSink({ clients }: FlightsAws, table: string): Promise<StoredRow[]> {
  const rows: StoredRow[] = [];
  const request = { TableName: table, ConsistentRead: true };
  for await (const { Items = [] } of paginateScan({ client: clients.dynamodb }, request)) {
    for (const item of Items) rows.push(readRow(unmarshall(item)));
  }
  return rows.sort((a, b) => compareTexts(a.sort, b.sort));
}

function readRow(item: Readonly<Record<string, unknown>>): StoredRow {
  const columns = Object.entries(item).filter(
    ([name]) => name !== 'pk' && name !== 'sk' && !name.startsWith('_'),
  );
  return {
    airport: String(item['pk']),
    sort: String(item['sk']),
    generation: Number(item['_generation']),
    channel: String(item['_channel']),
    position: parsePosition(String(item['_position'])),
    columns: Object.fromEntries(columns),
  };
}

/** The rows that a reader with this rule sees, in the shape of the plain computation. */
export function viewOf(rows: StoredRows, rule: RowRule): FlightTables {
  const group = (some: readonly StoredRow[]): Map<string, unknown[]> =>
    new Map(
      [...Map.groupBy(some.filter(rule), ({ airport }) => airport)].map(([airport, own]) => [
        airport,
        own.map(({ columns }) => columns),
      ]),
    );
  const airports = new Map(
    rows.airports.filter(rule).map(({ airport, columns }) => [airport, columns]),
  );
  return {
    airports,
    alerts: group(rows.alerts),
    hours: group(rows.hours),
  } as unknown as FlightTables;
}

/** The rows of the first generation behind the cut: judged by the records alone, not by what a restore has written down. */
export function listAbandoned({ airports, alerts, hours }: StoredRows, cut: Cut): StoredRow[] {
  return [...airports, ...alerts, ...hours].filter(
    (row) => row.generation === 1 && !isWithin(placeOf(row), cut),
  );
}

/** The record that made a row. */
export function placeOf({ channel, position }: RowOrigin): { shardId: string; sequence: bigint } {
  const shardId = channel.slice(channel.lastIndexOf('/') + 1);
  return { shardId, sequence: BigInt(position.sequence) };
}

/** The rule that a reader makes who cannot wait for the sweep: from the job's item and the reservations in its bucket. */
export async function readRule(flights: FlightsAws): Promise<RowRule> {
  const job = await portsOf(flights).control.readJob(flightsJob);
  return createRowRule(job!.generation, await readWay(portsOf(flights), job!.generation));
}

/** What a reader meets while a restore is under way. */
export interface Look {
  readonly rows: StoredRows;
  readonly view: FlightTables;
  /** Rows of the abandoned time that still lie in the sinks. */
  readonly abandoned: readonly StoredRow[];
  /** Of those, the ones that the reader's rule lets pass: there must be none. */
  readonly passed: readonly StoredRow[];
}

export async function lookAt(flights: FlightsAws, cut: Cut): Promise<Look> {
  const rule = await readRule(flights);
  const rows = await readSinks(flights);
  const abandoned = listAbandoned(rows, cut);
  return { rows, view: viewOf(rows, rule), abandoned, passed: abandoned.filter(rule) };
}

/** Where a savepoint cuts the shards. */
export async function readCut(flights: FlightsAws, savepoint: string): Promise<Cut> {
  const name = manifestName(flightsJob, { kind: 'savepoint', label: savepoint });
  const { channels } = await readManifest(portsOf(flights), name);
  return new Map(
    channels.flatMap(({ channel: { shardId }, progress: { position } }) =>
      position === undefined ? [] : [[shardId, BigInt(position.sequence)]],
    ),
  );
}

/** Where the channels of the present generation stand. */
export async function readProgress(flights: FlightsAws): Promise<Cut> {
  const control = portsOf(flights).control;
  const { generation } = (await control.readJob(flightsJob))!;
  const cut = new Map<string, bigint>();
  for (const channel of await control.listChannels(flightsJob, generation)) {
    const progress = await control.readProgress(flightsJob, generation, channel);
    if (progress?.position === undefined) continue;
    cut.set(channel.shardId, BigInt(progress.position.sequence));
  }
  return cut;
}

/** Row by row as the demonstration does it, every table, whatever the rule says. */
export function compareWith(flights: FlightsAws, plain: PlainResult): Promise<Comparison> {
  const { clients, output } = flights;
  return compareTables(
    clients.dynamodb,
    {
      airports: output('Airports'),
      alerts: output('Alerts'),
      hours: output('Hours'),
      late: output('Late'),
      deadLetters: output('DeadLetters'),
    },
    plain,
  );
}

/** The job as its tools see it from outside. */
export function portsOf({ clients, output }: FlightsAws): JobPorts {
  const place = { client: clients.s3, bucket: output('Bucket'), system: nodeSystem };
  return {
    job: flightsJob,
    control: openControlStore(clients.dynamodb, output('Control')),
    objects: createS3ObjectStore(place),
    system: nodeSystem,
    telemetry: { log: () => undefined, publish: () => undefined },
  };
}
