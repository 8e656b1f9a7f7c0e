import { styleText } from 'node:util';
import type { Comparison } from './compare-tables.ts';

/** How many differing rows are printed. */
const differencesShown = 10;

/** What a comparison comes to, with the first rows that differ; green or red on terminals. */
export function formatVerdict({
  differences,
  airports,
  alerts,
  hours,
}: Pick<Comparison, 'differences' | 'airports' | 'alerts' | 'hours'>): string {
  if (differences.length === 0) {
    const text = `EXACTLY ONCE: ${format(airports)} airports, ${format(alerts)} alerts and ${format(hours)} hours equal a plain computation, row by row.`;
    return styleText('green', text, { stream: process.stdout });
  }
  const shown = differences.slice(0, differencesShown);
  const more = differences.length - shown.length;
  const title = `DIFFERENT: ${differences.length} rows`;
  return [
    styleText('red', title, { stream: process.stdout }),
    ...shown,
    ...(more > 0 ? [`… and ${more} more`] : []),
  ].join('\n');
}

function format(value: number): string {
  return value.toLocaleString('en-US');
}
