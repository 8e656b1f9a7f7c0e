import { readFlights as readAllFlights, type Flight } from '../../../../cli/demo/flights.ts';

/** So many of the flights as the test asks for: the demo at its full length is run by itself. */
export function readFlights(): Flight[] {
  return readAllFlights().slice(0, Number(process.env['HOLDFAST_TEST_FLIGHTS']));
}
