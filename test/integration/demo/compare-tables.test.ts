import { DeleteItemCommand, PutItemCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { compareTables, type SinkTables } from '../../../cli/demo/compare-tables.ts';
import type { Flight } from '../../../cli/demo/flights.ts';
import { computePlainly } from '../../../cli/demo/plain-computation.ts';
import {
  startDynamoDb,
  type DynamoDbEmulator,
} from '../../../localstack/embedded/emulators/dynamodb.ts';
import { connect, createTable } from '../../contract/dynamodb-tables.ts';

const flight = (origin: string, destination: string, delay: number, minute: number): Flight => ({
  date: `2001/01/01 0${Math.floor(minute / 60)}:${String(minute % 60).padStart(2, '0')}`,
  delay,
  distance: 100,
  origin,
  destination,
});

/** Two alerts in Oslo, none in Bergen, which has departures in two hours, the later one reported first. */
const flights = [
  flight('OSL', 'BGO', 61, 0),
  flight('BGO', 'OSL', -5, 61),
  flight('OSL', 'TRD', 90, 2),
  flight('OSL', 'BGO', 120, 3),
  flight('OSL', 'BGO', 70, 4),
  flight('BGO', 'TRD', 16, 5),
  flight('OSL', 'BGO', 80, 6),
  flight('OSL', 'TRD', 60, 7),
  flight('OSL', 'BGO', 61, 8),
  flight('OSL', 'BGO', 62, 9),
  flight('OSL', 'BGO', 63, 10),
];

const osloRow = {
  flights: 9,
  delayed: 9,
  meanDelay: 667 / 9,
  worstDelay: 120,
  lastDelays: [80, 60, 61, 62, 63],
  destinations: { BGO: 7, TRD: 2 },
};
const bergenRow = {
  flights: 2,
  delayed: 1,
  meanDelay: 5.5,
  worstDelay: 16,
  lastDelays: [-5, 16],
  destinations: { OSL: 1, TRD: 1 },
};
const osloHour = {
  hour: '2001/01/01 00:00',
  flights: 9,
  delayed: 9,
  meanDelay: 667 / 9,
  worstDelay: 120,
};
const bergenFirst = {
  hour: '2001/01/01 00:00',
  flights: 1,
  delayed: 1,
  meanDelay: 16,
  worstDelay: 16,
};
const bergenSecond = {
  hour: '2001/01/01 01:00',
  flights: 1,
  delayed: 0,
  meanDelay: -5,
  worstDelay: -5,
};
const firstAlert = { date: '2001/01/01 00:03', destination: 'BGO', delays: [61, 90, 120] };
const secondAlert = { date: '2001/01/01 00:10', destination: 'BGO', delays: [61, 62, 63] };

describe('the plain computation', () => {
  it('counts what the demo counts', () => {
    const { airports, alerts, hours } = computePlainly(flights);
    expect(Object.fromEntries(airports)).toEqual({ OSL: osloRow, BGO: bergenRow });
    expect(Object.fromEntries(alerts)).toEqual({ OSL: [firstAlert, secondAlert] });
    expect(Object.fromEntries(hours)).toEqual({
      OSL: [osloHour],
      BGO: [bergenFirst, bergenSecond],
    });
  });

  it('begins a new streak after an alert and after a departure that is not late', () => {
    const late = (minute: number): Flight => flight('OSL', 'BGO', 61, minute);
    const alertsOf = (list: readonly Flight[]): number =>
      computePlainly(list).alerts.get('OSL')?.length ?? 0;
    expect(alertsOf([late(1), late(2), late(3), late(4), late(5)])).toBe(1);
    expect(alertsOf([late(1), late(2), flight('OSL', 'BGO', 60, 3), late(4)])).toBe(0);
  });
});

describe('the comparison of the tables', () => {
  let emulator: DynamoDbEmulator;
  let client: DynamoDBClient;
  let tables: SinkTables;

  const put = async (
    table: keyof SinkTables,
    pk: string,
    sk: string,
    row: Record<string, unknown>,
  ): Promise<void> => {
    const Item = marshall({ pk, sk, _id: `${pk}/${sk}`, _generation: 1, ...row });
    await client.send(new PutItemCommand({ TableName: tables[table], Item }));
  };
  const remove = async (table: keyof SinkTables, pk: string, sk: string): Promise<void> => {
    const Key = { pk: { S: pk }, sk: { S: sk } };
    await client.send(new DeleteItemCommand({ TableName: tables[table], Key }));
  };
  const differences = async (): Promise<readonly string[]> =>
    (await compareTables(client, tables, computePlainly(flights))).differences;

  beforeAll(async () => {
    emulator = await startDynamoDb();
    client = connect(emulator.endpoint);
  });

  afterAll(async () => {
    client.destroy();
    await emulator.stop();
  });

  beforeEach(async () => {
    const [airports, alerts, hours, late, deadLetters] = await Promise.all([
      createTable(client),
      createTable(client),
      createTable(client),
      createTable(client),
      createTable(client),
    ]);
    tables = { airports, alerts, hours, late, deadLetters };
    await put('airports', 'OSL', '-', osloRow);
    await put('airports', 'BGO', '-', bergenRow);
    await put('alerts', 'OSL', 's#0003', firstAlert);
    await put('alerts', 'OSL', 's#0010', secondAlert);
    await put('hours', 'OSL', 's#0020', osloHour);
    await put('hours', 'BGO', 's#0020', bergenFirst);
    await put('hours', 'BGO', 's#0030', bergenSecond);
  });

  it('finds nothing where all rows are equal', async () => {
    expect(await compareTables(client, tables, computePlainly(flights))).toEqual({
      airports: 2,
      alerts: 2,
      hours: 3,
      late: 0,
      differences: [],
    });
  });

  it('finds a row that was changed', async () => {
    await put('airports', 'BGO', '-', { ...bergenRow, flights: 3 });
    expect(await differences()).toEqual([
      expect.stringMatching(/^airport BGO: the table has .*"flights":3.*, expected .*"flights":2/),
    ]);
  });

  it('finds a row that is missing', async () => {
    await remove('airports', 'BGO', '-');
    expect(await differences()).toEqual([
      expect.stringMatching(/^airport BGO: the table has nothing, expected \{/),
    ]);
  });

  it('finds a row that is too many', async () => {
    await put('airports', 'SVG', '-', bergenRow);
    expect(await differences()).toEqual([
      expect.stringMatching(/^airport SVG: the table has \{.*\}, expected nothing$/),
    ]);
  });

  it('finds an alert that is there twice', async () => {
    await put('alerts', 'OSL', 's#0004', firstAlert);
    expect(await differences()).toEqual([expect.stringMatching(/^alerts of OSL: /)]);
  });

  it('finds an alert that is missing, and one of an airport without any', async () => {
    await remove('alerts', 'OSL', 's#0003');
    await put('alerts', 'BGO', 's#0004', firstAlert);
    expect(await differences()).toEqual([
      expect.stringMatching(/^alerts of OSL: /),
      expect.stringMatching(/^alerts of BGO: /),
    ]);
  });

  it('finds alerts in another order', async () => {
    await put('alerts', 'OSL', 's#0003', secondAlert);
    await put('alerts', 'OSL', 's#0010', firstAlert);
    expect(await differences()).toEqual([expect.stringMatching(/^alerts of OSL: /)]);
  });

  it('finds an hour that is there twice, and shows that one alone', async () => {
    await put('hours', 'BGO', 's#0040', bergenFirst);
    expect(await differences()).toEqual([
      expect.stringMatching(
        /^hour of BGO 2001\/01\/01 00:00: the table has \[\{.*\},\{.*\}\], expected \[\{[^}]*\}\]$/,
      ),
    ]);
  });

  it('finds an hour that is missing, and one that lacks a flight', async () => {
    await remove('hours', 'BGO', 's#0030');
    await put('hours', 'OSL', 's#0020', { ...osloHour, flights: 8 });
    expect(await differences()).toEqual([
      expect.stringMatching(/^hour of OSL 2001\/01\/01 00:00: .*"flights":8.*"flights":9/),
      expect.stringMatching(/^hour of BGO 2001\/01\/01 01:00: the table has nothing, expected \[/),
    ]);
  });

  it('finds an hour that has no flights, or an airport that has none', async () => {
    await put('hours', 'SVG', 's#0020', bergenFirst);
    expect(await differences()).toEqual([
      expect.stringMatching(/^hour of SVG 2001\/01\/01 00:00: .*, expected nothing$/),
    ]);
  });

  it('finds hours in another order', async () => {
    await put('hours', 'BGO', 's#0020', bergenSecond);
    await put('hours', 'BGO', 's#0030', bergenFirst);
    expect(await differences()).toEqual(['hours of BGO: the table has them in another order']);
  });

  it('finds every late flight', async () => {
    await put('late', 'OSL', 's#0020', { date: '2001/01/01 00:03', delay: 120 });
    const comparison = await compareTables(client, tables, computePlainly(flights));
    expect(comparison.late).toBe(1);
    expect(comparison.differences).toEqual([
      'late flight of OSL: {"date":"2001/01/01 00:03","delay":120}',
    ]);
  });

  it('finds every dead letter', async () => {
    await put('deadLetters', 'channel', '1', { message: 'no flight' });
    expect(await differences()).toEqual(['dead letter: no flight']);
  });
});
