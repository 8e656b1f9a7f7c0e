import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** A flight as the npm package `vega-datasets` has it, from the US Bureau of Transportation Statistics, 2001. */
export interface Flight {
  /** `YYYY/MM/DD HH:MM`, local time of departure. */
  readonly date: string;
  /** Minutes. */
  readonly delay: number;
  /** Miles. */
  readonly distance: number;
  readonly origin: string;
  readonly destination: string;
}

/** 20,000 flights, in order of departure. */
export function readFlights(): Flight[] {
  // The package exports its code alone; its data lies beside that.
  const code = createRequire(import.meta.url).resolve('vega-datasets');
  const file = join(dirname(code), '..', 'data', 'flights-20k.json');
  return JSON.parse(readFileSync(file, 'utf8')) as Flight[];
}
