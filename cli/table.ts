import { styleText } from 'node:util';

/** A column: its heading, and whether its cells are numbers, which are aligned to the right. */
export interface Column {
  readonly heading: string;
  readonly isNumber?: boolean;
}

/** Rows under headings, as wide as they need; bold headings on terminals alone. */
export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): string {
  const widths = columns.map(({ heading }, at) =>
    Math.max(heading.length, ...rows.map((row) => row[at]?.length ?? 0)),
  );
  const align = (cells: readonly string[]): string =>
    columns
      .map(({ isNumber }, at) =>
        isNumber === true ? cells[at]!.padStart(widths[at]!) : cells[at]!.padEnd(widths[at]!),
      )
      .join('  ')
      .trimEnd();
  const heading = align(columns.map((column) => column.heading));
  return [styleText('bold', heading, { stream: process.stdout }), ...rows.map(align)].join('\n');
}

/** Names and what they are, one below the other; a name that is empty goes on with the one before. */
export function formatFacts(facts: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(0, ...facts.map(([name]) => name.length));
  return facts.map(([name, value]) => `${name.padEnd(width)}  ${value}`.trimEnd()).join('\n');
}

/** A length of time for people: the two largest units that it has. */
export function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ];
  const first = parts.findIndex(([count]) => count > 0);
  if (first < 0) return '0 s';
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}

/** ms since the epoch as a date in UTC; `never` for 0. */
export function formatTime(ms: number): string {
  return ms === 0 ? 'never' : new Date(ms).toISOString();
}

const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;

export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1_000 && unit < byteUnits.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${byteUnits[unit]}`;
}
