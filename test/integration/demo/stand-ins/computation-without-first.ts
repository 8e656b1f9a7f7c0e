import type { Flight } from '../../../../cli/demo/flights.ts';
import {
  computePlainly as computeAll,
  type PlainResult,
} from '../../../../cli/demo/plain-computation.ts';

/** What the tables would be if the job had lost its first flight. */
export function computePlainly(flights: readonly Flight[]): PlainResult {
  return computeAll(flights.slice(1));
}
