import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { formatTable } from '../../cli/table.ts';
import type { Bench, BenchTable, Cell } from './bench.ts';
import { describeMachine } from './machine.ts';

/** Writes what a bench has measured, and on what, to `<folder>/<name>.json`. */
export function writeResults(
  folder: string,
  { name, what }: Bench,
  tables: readonly BenchTable[],
  { isQuick }: { readonly isQuick: boolean },
): void {
  const results = {
    bench: name,
    what,
    isQuick,
    measuredAt: new Date().toISOString(),
    machine: describeMachine(),
    tables,
  };
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, `${name}.json`), `${JSON.stringify(results, undefined, 2)}\n`);
}

/** A table for people. */
export function formatBenchTable({ title, columns, rows }: BenchTable): string {
  const isNumber = (field: string): boolean => rows.some((row) => typeof row[field] === 'number');
  const headings = columns.map(({ field, heading }) => ({ heading, isNumber: isNumber(field) }));
  const cells = rows.map((row) =>
    columns.map(({ field, digits }) => formatCell(row[field], digits)),
  );
  return `${title}\n\n${formatTable(headings, cells)}`;
}

export function formatCell(cell: Cell, digits = 0): string {
  if (cell === undefined) return '-';
  if (typeof cell === 'string') return cell;
  const [whole, fraction] = cell.toFixed(digits).split('.');
  const grouped = whole!.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}
