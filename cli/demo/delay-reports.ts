import type { RandomSource } from '../../shared/core/random.ts';
import type { Flight } from './flights.ts';

/** A departure is reported at most this much later, as much as the operator waits for. */
export const reportDelayMsMax = 6 * 3600 * 1000;

/**
 * The flights in the order in which their departures are reported: each some time after the departure, so that they
 * come out of order, but nothing comes after a flight that left more than `reportDelayMsMax` later.
 */
export function delayReports(flights: readonly Flight[], random: RandomSource): Flight[] {
  return flights
    .map((flight) => ({ flight, reportedMs: departureMs(flight) + reportDelayMsMax * random() }))
    .sort((a, b) => a.reportedMs - b.reportedMs)
    .map(({ flight }) => flight);
}

/** How many flights come after one that left later. */
export function countOutOfOrder(flights: readonly Flight[]): number {
  let latest = '';
  let count = 0;
  for (const { date } of flights) {
    if (date < latest) count += 1;
    else latest = date;
  }
  return count;
}

/** ms since the epoch if local time were UTC. */
function departureMs({ date }: Flight): number {
  return Date.parse(`${date.replaceAll('/', '-').replace(' ', 'T')}Z`);
}
