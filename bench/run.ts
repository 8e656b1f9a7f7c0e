import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { benches } from './benches.ts';
import type { Bench } from './harness/bench.ts';
import { fillPlaces, readResults } from './harness/document.ts';
import { formatBenchTable, writeResults } from './harness/results.ts';
import { openScratch, type Scratch } from './harness/scratch.ts';

const usage = `usage: npm run bench -- [names…] [--quick] [--write] [--results <folder>]

Measures, prints a table for each bench and writes bench/results/<name>.json.

${benches.map(({ name, what }) => `  ${name.padEnd(12)}${what}`).join('\n')}

  --quick     everything small: shows that the benches work, not how fast anything is
  --write     puts the figures into docs/performance.md as well
  --results   where the results go [default: bench/results; with --quick they are written nowhere]
`;

interface Options {
  readonly chosen: readonly Bench[];
  readonly isQuick: boolean;
  readonly isWritten: boolean;
  readonly results: string | undefined;
}

const documentFile = path.join(import.meta.dirname, '../docs/performance.md');

function readOptions(): Options | 'help' {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      results: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const unknown = positionals.filter((name) => !benches.some((bench) => bench.name === name));
  if (unknown.length > 0) {
    throw new Error(
      `there is no bench ${unknown.join(', ')}; there are ${benches.map(({ name }) => name).join(', ')}`,
    );
  }
  if (values.write && (values.quick || values.results !== undefined)) {
    throw new Error(
      '--write puts figures into docs/performance.md, where those of --quick or of another folder do not belong; leave one of them out',
    );
  }
  const isChosen = ({ name }: Bench): boolean =>
    positionals.length === 0 || positionals.includes(name);
  const folder = path.join(import.meta.dirname, 'results');
  return {
    chosen: benches.filter(isChosen),
    isQuick: values.quick,
    isWritten: values.write,
    results: values.results ?? (values.quick ? undefined : folder),
  };
}

async function runBench(bench: Bench, scratch: Scratch, options: Options): Promise<void> {
  const { isQuick, results } = options;
  const log = (line: string): void => void process.stderr.write(`${bench.name}: ${line}\n`);
  const tables = await bench.run({ isQuick, scratch, log });
  for (const table of tables) process.stdout.write(`${formatBenchTable(table)}\n\n`);
  if (results !== undefined) writeResults(results, bench, tables, { isQuick });
  if (options.isWritten) writeDocument(results!);
}

/** After each bench, so that those that are done have their figures whatever becomes of the next. */
function writeDocument(results: string): void {
  const document = readFileSync(documentFile, 'utf8');
  writeFileSync(
    documentFile,
    fillPlaces(document, (name) => readResults(results, name)),
  );
}

/** Runs something with a scratch that is gone whatever ends it. */
async function withScratch(run: (scratch: Scratch) => Promise<void>): Promise<void> {
  const scratch = openScratch();
  let isStopping = false;
  const stop = (code: number): void => {
    isStopping = true;
    void scratch.close().finally(() => process.exit(code));
  };
  const interrupt = (): void => stop(130);
  const terminate = (): void => stop(143);
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', terminate);
  try {
    await run(scratch);
  } catch (error) {
    // That its processes were ended is no news then.
    if (isStopping) await new Promise<never>(() => undefined);
    throw error;
  } finally {
    await scratch.close();
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', terminate);
  }
}

async function main(): Promise<void> {
  const options = readOptions();
  if (options === 'help') {
    process.stdout.write(usage);
    return;
  }
  for (const bench of options.chosen) {
    await withScratch((scratch) => runBench(bench, scratch, options));
  }
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
