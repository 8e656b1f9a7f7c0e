import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { BenchTable } from './bench.ts';
import type { Machine } from './machine.ts';
import { formatCell } from './results.ts';

/*
 * docs/performance.md has a place for the figures of each bench, between `<!-- bench: <name> -->` and `<!-- end -->`. What
 * stands there is made of the results, and of nothing else.
 */

/** What is read of `bench/results/<name>.json`. */
export interface StoredResults {
  readonly measuredAt: string;
  readonly machine: Machine;
  readonly tables: readonly BenchTable[];
}

/** The results of a bench, or undefined where there are none. */
export function readResults(folder: string, name: string): StoredResults | undefined {
  const file = path.join(folder, `${name}.json`);
  if (!existsSync(file)) return undefined;
  return JSON.parse(readFileSync(file, 'utf8')) as StoredResults;
}

const place = /<!-- bench: ([a-z0-9-]+) -->\n[^]*?<!-- end -->/g;

/** The names of the benches that a document has places for. */
export function listPlaces(document: string): string[] {
  return [...document.matchAll(place)].map(([, name]) => name!);
}

/** The document with the figures of all results. */
export function fillPlaces(
  document: string,
  resultsOf: (name: string) => StoredResults | undefined,
): string {
  return document.replace(place, (_, name: string) => {
    return `<!-- bench: ${name} -->\n\n${describe(name, resultsOf(name))}\n\n<!-- end -->`;
  });
}

function describe(name: string, results: StoredResults | undefined): string {
  if (results === undefined) {
    return `No figures yet: \`npm run bench -- ${name} --write\` on a quiet machine puts them here.`;
  }
  const { measuredAt, machine, tables } = results;
  const { cores, cpu, node } = machine;
  const where = `Measured ${measuredAt.slice(0, 10)}, ${cores} cores of ${cpu}, Node ${node}.`;
  return [where, ...tables.map(formatTable)].join('\n\n');
}

/** A table of Markdown, its columns as wide as their widest cell, as the formatter has them. */
function formatTable({ title, columns, rows }: BenchTable): string {
  const isNumber = columns.map(({ field }) => rows.some((row) => typeof row[field] === 'number'));
  const cells = [
    columns.map(({ heading }) => heading),
    ...rows.map((row) => columns.map(({ field, digits }) => formatCell(row[field], digits))),
  ];
  const widths = columns.map((_, at) => Math.max(3, ...cells.map((line) => line[at]!.length)));
  const pad = (text: string, at: number): string =>
    isNumber[at] === true ? text.padStart(widths[at]!) : text.padEnd(widths[at]!);
  const lines = cells.map((line) => `| ${line.map(pad).join(' | ')} |`);
  const rule = widths.map((width, at) =>
    isNumber[at] === true ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width),
  );
  lines.splice(1, 0, `| ${rule.join(' | ')} |`);
  return `${title}:\n\n${lines.join('\n')}`;
}
