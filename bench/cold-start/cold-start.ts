import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { buildHandler } from '../../infra/bundle-handler.ts';
import type { Bench, BenchContext, Cell } from '../harness/bench.ts';
import { median, takeTurns } from '../harness/statistics.ts';
import { coldFunctions, type ColdFunction } from './cold-functions.ts';

const rounds = 21;
const quickRounds = 1;

const processModule = path.join(import.meta.dirname, 'cold-process.ts');

/** Of Node, as functions are deployed. */
const flags = ['--enable-source-maps'];

interface Bundle extends ColdFunction {
  readonly file: string;
  readonly bytes: number;
  /** Of AWS's SDK, by what they take of the bundle. */
  readonly clients: string;
}

/** What `cold-process.ts` prints. */
interface ColdStart {
  readonly importMs: number;
  readonly peakRssBytes: number;
}

/**
 * What the code of a function costs before its first event: fresh processes of Node load the bundle as it is deployed, with
 * the environment that it is deployed with. On AWS the sandbox, its download and Node itself come on top of it.
 */
export const coldStart: Bench = {
  name: 'cold-start',
  what: 'size of each function, and how long a fresh process takes to load it',

  async run(context) {
    const bundles = coldFunctions.map((cold) => bundle(cold, context));
    const measured = await takeTurns(
      context.isQuick ? quickRounds : rounds,
      bundles,
      async ({ file, environment }) =>
        (await context.scratch.run(
          processModule,
          [file, JSON.stringify(environment)],
          flags,
        )) as ColdStart,
    );
    return [
      {
        title: 'Cold starts: what a function loads before its first event',
        columns: [
          { field: 'function', heading: 'function' },
          { field: 'bundleKilobytes', heading: 'bundle, KB' },
          { field: 'importMs', heading: 'import, ms' },
          { field: 'slowestImportMs', heading: 'slowest, ms' },
          { field: 'peakRssMegabytes', heading: 'peak memory, MB' },
          { field: 'clients', heading: 'AWS clients' },
        ],
        rows: bundles.map((one, at) => summarize(one, measured[at]!)),
      },
    ];
  },
};

function bundle(cold: ColdFunction, { scratch, log }: BenchContext): Bundle {
  log(`bundling ${cold.name}`);
  const { outputFiles, metafile } = buildHandler(`functions/${cold.name}/handler.ts`);
  const folder = path.join(scratch.folder, cold.name);
  mkdirSync(folder);
  for (const file of outputFiles) {
    writeFileSync(path.join(folder, path.basename(file.path)), file.contents);
  }
  const output = Object.values(metafile.outputs).find(
    ({ entryPoint }) => entryPoint !== undefined,
  )!;
  return {
    ...cold,
    file: path.join(folder, 'index.mjs'),
    bytes: output.bytes,
    clients: listClients(output.inputs),
  };
}

function listClients(inputs: Readonly<Record<string, { readonly bytesInOutput: number }>>): string {
  const bytesOf = new Map<string, number>();
  for (const [file, { bytesInOutput }] of Object.entries(inputs)) {
    const [, client] = /node_modules\/@aws-sdk\/client-([^/]+)\//.exec(file) ?? [];
    if (client === undefined) continue;
    bytesOf.set(client, (bytesOf.get(client) ?? 0) + bytesInOutput);
  }
  return [...bytesOf]
    .toSorted(([, a], [, b]) => b - a)
    .map(([client, bytes]) => `${client} ${Math.round(bytes / 1e3)} KB`)
    .join(', ');
}

function summarize(
  { name, bytes, clients }: Bundle,
  starts: readonly ColdStart[],
): Readonly<Record<string, Cell>> {
  const times = starts.map(({ importMs }) => importMs);
  return {
    function: name,
    bundleKilobytes: bytes / 1e3,
    importMs: median(times),
    slowestImportMs: Math.max(...times),
    peakRssMegabytes: median(starts.map(({ peakRssBytes }) => peakRssBytes / 1e6)),
    clients,
  };
}
