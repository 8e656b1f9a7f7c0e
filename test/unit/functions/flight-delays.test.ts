import { describe, expect, it } from 'vitest';
import { flightDelays } from '../../../functions/flight-delays/operator.ts';
import { createOperatorDriver } from '../../../shared/operator/testing/operator-driver.ts';

interface Flight {
  readonly date: string;
  readonly delay: number;
  readonly distance: number;
  readonly origin: string;
  readonly destination: string;
}

const flight = (overrides: Partial<Flight> = {}): Flight => ({
  date: '2001/01/05 10:30',
  delay: 0,
  distance: 500,
  origin: 'SEA',
  destination: 'LAX',
  ...overrides,
});

/** Sends departures of one airport with these delays. */
const depart = (delays: readonly number[], overrides: Partial<Flight> = {}) => {
  const driver = createOperatorDriver(flightDelays);
  for (const delay of delays) driver.send(flight({ delay, ...overrides }));
  return driver;
};

const airportRow = (driver: ReturnType<typeof depart>): unknown => driver.view('airports')[0]?.row;

describe('flight delays of an airport', () => {
  it('tell how many flights left, how many were delayed, and how late they were', () => {
    expect(airportRow(depart([-5, 14, 15, 40]))).toEqual({
      flights: 4,
      delayed: 2,
      meanDelay: 16,
      worstDelay: 40,
      lastDelays: [-5, 14, 15, 40],
      destinations: { LAX: 4 },
    });
  });

  it('begin with the first flight, early as it may be', () => {
    expect(airportRow(depart([-7]))).toMatchObject({
      flights: 1,
      delayed: 0,
      meanDelay: -7,
      worstDelay: -7,
    });
  });

  it('keep the last five', () => {
    expect(airportRow(depart([1, 2, 3, 4, 5, 6, 7]))).toMatchObject({
      flights: 7,
      lastDelays: [3, 4, 5, 6, 7],
    });
  });

  it('count the flights to each destination', () => {
    const driver = createOperatorDriver(flightDelays);
    for (const destination of ['LAX', 'DEN', 'LAX']) driver.send(flight({ destination }));
    expect(airportRow(driver)).toMatchObject({ destinations: { LAX: 2, DEN: 1 } });
  });

  it('are kept for each airport of departure', () => {
    const driver = createOperatorDriver(flightDelays);
    driver.send(flight({ origin: 'SEA', delay: 20 }));
    driver.send(flight({ origin: 'DEN', delay: 5 }));
    expect(driver.keys()).toEqual(['DEN', 'SEA']);
    expect(
      driver.view('airports').map(({ key, row }) => [key, (row as { delayed: number }).delayed]),
    ).toEqual([
      ['SEA', 1],
      ['DEN', 0],
    ]);
  });
});

describe('an alert', () => {
  it('is raised by the third departure in a row over an hour late', () => {
    const driver = depart([61, 90, 120], { destination: 'JFK', date: '2001/02/03 04:05' });
    expect(driver.outputs('alerts')).toEqual([
      {
        sink: 'alerts',
        key: 'SEA',
        rowKey: '',
        row: { date: '2001/02/03 04:05', destination: 'JFK', delays: [61, 90, 120] },
      },
    ]);
  });

  it('comes before the row of the airport, which knows of the flight already', () => {
    const driver = depart([61, 90]);
    expect(driver.send(flight({ delay: 120 })).map(({ sink }) => sink)).toEqual([
      'alerts',
      'airports',
    ]);
  });

  it.each<[string, number[]]>([
    ['two are late', [61, 90]],
    ['one of them is just an hour late', [61, 60, 90]],
    ['a punctual one comes between', [61, 90, 0, 61, 90]],
  ])('is not raised where %s', (_, delays) => {
    expect(depart(delays).outputs('alerts')).toEqual([]);
  });

  it('is raised again after three more, not by the fourth', () => {
    const driver = depart([61, 62, 63, 64, 65, 66]);
    const delays = driver.outputs('alerts').map(({ row }) => (row as { delays: number[] }).delays);
    expect(delays).toEqual([
      [61, 62, 63],
      [64, 65, 66],
    ]);
  });

  it('is not raised by late departures of several airports', () => {
    const driver = createOperatorDriver(flightDelays);
    for (const origin of ['SEA', 'DEN', 'LAX']) driver.send(flight({ origin, delay: 90 }));
    expect(driver.outputs('alerts')).toEqual([]);
  });
});

describe('an event that is no flight', () => {
  it.each<[string, object]>([
    ['has no delay', { ...flight(), delay: undefined }],
    ['has a text for a delay', { ...flight(), delay: '5' }],
    ['has no origin', flight({ origin: '' })],
  ])('is refused where it %s', (_, event) => {
    const driver = createOperatorDriver(flightDelays);
    expect(() => driver.send(event)).toThrow();
    expect(driver.keys()).toEqual([]);
  });
});
