import { describe, expect, it } from 'vitest';
import { flightDelays } from '../../../functions/flight-delays/operator.ts';
import { endOfStreamMs } from '../../../shared/operator/windows/windowing.ts';
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

describe('an hour of an airport', () => {
  /** Sends departures at these times of 5 January; the first is punctual, each next ten minutes more delayed. */
  const departAt = (times: readonly string[]) => {
    const driver = createOperatorDriver(flightDelays);
    times.forEach((time, n) => driver.send(flight({ date: `2001/01/05 ${time}`, delay: 10 * n })));
    return driver;
  };
  const hoursOf = (driver: ReturnType<typeof departAt>) =>
    driver.outputs('hours').map(({ key, row }) => ({ key, ...(row as object) }));

  it('is told once no departure of it can be reported any more, six hours later', () => {
    const driver = departAt(['10:00', '10:59', '10:30', '11:00', '16:59']);
    expect(hoursOf(driver)).toEqual([]);
    driver.send(flight({ date: '2001/01/05 17:00' }));
    expect(hoursOf(driver)).toEqual([
      {
        key: 'SEA',
        hour: '2001/01/05 10:00',
        flights: 3,
        delayed: 1,
        meanDelay: 10,
        worstDelay: 20,
      },
    ]);
  });

  it('takes departures that are reported behind later ones', () => {
    const driver = departAt(['10:10', '15:00', '16:50', '10:20', '11:10', '10:59']);
    driver.advanceWatermark(endOfStreamMs);
    expect(hoursOf(driver)).toMatchObject([
      { hour: '2001/01/05 10:00', flights: 3, delayed: 2, meanDelay: 80 / 3, worstDelay: 50 },
      { hour: '2001/01/05 11:00', flights: 1 },
      { hour: '2001/01/05 15:00', flights: 1 },
      { hour: '2001/01/05 16:00', flights: 1 },
    ]);
  });

  it('is told once, however far time goes on, and leaves nothing behind', () => {
    const driver = departAt(['10:00', '18:00']);
    driver.advanceWatermark(endOfStreamMs);
    driver.advanceWatermark(endOfStreamMs);
    expect(hoursOf(driver)).toHaveLength(2);
    expect(driver.stateOf('SEA')['openHours']).toBeUndefined();
    expect(driver.timersOf('SEA')).toEqual([]);
  });

  it('goes on without a departure that is reported too late, which is kept beside and counts in all else', () => {
    const driver = departAt(['10:00', '17:00', '10:01']);
    driver.advanceWatermark(endOfStreamMs);
    expect(driver.outputs('late').map(({ row }) => row)).toEqual([
      flight({ date: '2001/01/05 10:01', delay: 20 }),
    ]);
    expect(hoursOf(driver)).toMatchObject([{ flights: 1 }, { flights: 1 }]);
    expect(airportRow(driver)).toMatchObject({ flights: 3, worstDelay: 20 });
  });

  it('is over when another airport is as far', () => {
    const driver = departAt(['10:00']);
    driver.send(flight({ origin: 'DEN', date: '2001/01/05 17:00' }));
    expect(hoursOf(driver)).toMatchObject([{ key: 'SEA', flights: 1 }]);
  });

  it('belongs to its day, month and year', () => {
    const driver = createOperatorDriver(flightDelays);
    const dates = ['2000/12/31 23:59', '2001/01/01 00:00', '2001/02/28 23:00', '2001/03/01 00:59'];
    for (const date of dates) driver.send(flight({ date }));
    driver.advanceWatermark(endOfStreamMs);
    expect(hoursOf(driver).map((row) => (row as unknown as { hour: string }).hour)).toEqual([
      '2000/12/31 23:00',
      '2001/01/01 00:00',
      '2001/02/28 23:00',
      '2001/03/01 00:00',
    ]);
  });
});

describe('an event that is no flight', () => {
  it.each<[string, object]>([
    ['has no delay', { ...flight(), delay: undefined }],
    ['has a text for a delay', { ...flight(), delay: '5' }],
    ['has no origin', flight({ origin: '' })],
    ['has another form of date', flight({ date: '2001-01-05T10:30' })],
    ['has no time of day', flight({ date: '2001/01/05' })],
  ])('is refused where it %s', (_, event) => {
    const driver = createOperatorDriver(flightDelays);
    expect(() => driver.send(event)).toThrow();
    expect(driver.keys()).toEqual([]);
  });
});
