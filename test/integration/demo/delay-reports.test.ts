import { describe, expect, it } from 'vitest';
import {
  countOutOfOrder,
  delayReports,
  reportDelayMsMax,
} from '../../../cli/demo/delay-reports.ts';
import { readFlights, type Flight } from '../../../cli/demo/flights.ts';
import { flightDelays } from '../../../functions/flight-delays/operator.ts';
import { seededRandom } from '../../../shared/core/random.ts';

const flights = readFlights().slice(0, 3_000);

const departureMs = ({ date }: Flight): number => new Date(`${date} UTC`).getTime();

/** How far each flight comes behind the latest that came before it, ms; negative where it is the latest itself. */
const lags = (list: readonly Flight[]): number[] => {
  let latest = Number.NEGATIVE_INFINITY;
  return list.map((flight) => {
    const lag = latest - departureMs(flight);
    latest = Math.max(latest, departureMs(flight));
    return lag;
  });
};

describe('the order in which flights are reported', () => {
  const reported = delayReports(flights, seededRandom('1'));

  it('has all of them, each once', () => {
    expect(new Set(reported)).toEqual(new Set(flights));
    expect(reported).toHaveLength(flights.length);
  });

  it('is out of order by hours, but never by more than the operator waits for', () => {
    const worst = Math.max(...lags(reported));
    expect(worst).toBeGreaterThan(reportDelayMsMax / 2);
    expect(worst).toBeLessThanOrEqual(reportDelayMsMax);
    expect(reportDelayMsMax).toBe(flightDelays.eventTime?.outOfOrdernessMs);
  });

  it('is out of order within an airport, too', () => {
    const chicago = reported.filter(({ origin }) => origin === 'ORD');
    expect(countOutOfOrder(chicago)).toBeGreaterThan(chicago.length / 4);
  });

  it('is that of its seed', () => {
    expect(delayReports(flights, seededRandom('1'))).toEqual(reported);
    expect(delayReports(flights, seededRandom('2'))).not.toEqual(reported);
  });

  it('is counted by the flights behind one that left later', () => {
    expect(countOutOfOrder(flights)).toBe(0);
    expect(countOutOfOrder(reported)).toBe(lags(reported).filter((lag) => lag > 0).length);
  });
});
