import { once } from 'node:events';
import path from 'node:path';
import {
  startEmulators,
  sumOf,
  sumRequests,
  sumTables,
  takeUsage,
  type EmulatorPlaces,
  type EmulatorUsage,
} from '../embedded/emulators.ts';
import { readFirstLine } from '../embedded/first-line.ts';
import type { Bench, BenchContext, BenchTable } from '../harness/bench.ts';
import { median, takeTurns } from '../harness/statistics.ts';
import type { Recovered, RecoveryOrder } from './recovery-process.ts';

interface Plan {
  /** Sizes of the state, keys. */
  readonly sizes: readonly number[];
  /** Keys of a batch. */
  readonly touched: number;
  readonly rounds: number;
}

// A million keys would fill the emulator for a quarter of an hour; in memory the bench `checkpoint` goes that far.
const plan: Plan = { sizes: [1_000, 10_000, 100_000], touched: 1_000, rounds: 5 };
const quickPlan: Plan = { sizes: [100, 1_000], touched: 100, rounds: 1 };

const processModule = path.join(import.meta.dirname, 'recovery-process.ts');

/**
 * Kills the process of an operator in the middle of a unit and lets a new one have the same batch. On AWS the event source
 * mapping's retry and the start of an environment come on top of it.
 */
export const recovery: Bench = {
  name: 'recovery',
  what: 'from the kill of an operator’s process to its next commit, against the size of the state',

  async run(context) {
    const used = context.isQuick ? quickPlan : plan;
    const emulators = await startEmulators(context.scratch);
    const jobs = used.sizes.map((keys) => describeJob(context, emulators, used, keys));
    for (const job of jobs) {
      context.log(`filling a state of ${job.keys} keys`);
      await runTask(context, { ...job, task: 'fill' });
    }
    const measured = await takeTurns(used.rounds, jobs, async (job, round) => {
      context.log(`round ${round + 1} of ${used.rounds}: recovery of ${job.keys} keys`);
      return measureRecovery(context, { ...job, batch: round });
    });
    // No figure counts where a record was lost or counted twice.
    for (const job of jobs) await runTask(context, { ...job, task: 'check' });
    const rows = jobs.map(({ keys }, at) => summarize(keys, measured[at]!));
    return [tabulateRatios(used, rows), tabulateSizes(used, rows)];
  },
};

function describeJob(
  { scratch }: BenchContext,
  emulators: EmulatorPlaces,
  { touched, rounds }: Plan,
  keys: number,
): RecoveryOrder {
  const jobId = `keys-${keys}`;
  const file = path.join(scratch.folder, `${jobId}.json`);
  return { task: 'fill', jobId, emulators, file, keys, touched, batches: rounds, batch: 0 };
}

function runTask({ scratch }: BenchContext, order: RecoveryOrder): Promise<unknown> {
  return scratch.run(processModule, [JSON.stringify(order)]);
}

interface MeasuredRecovery extends Recovered {
  /** From the kill to the commit, as seen from outside. */
  readonly totalMs: number;
  readonly usage: EmulatorUsage;
}

async function measureRecovery(
  context: BenchContext,
  order: RecoveryOrder,
): Promise<MeasuredRecovery> {
  const victim = context.scratch.start(process.execPath, [
    processModule,
    JSON.stringify({ ...order, task: 'die' }),
  ]);
  await readFirstLine(victim, 'the process that is to be killed');
  await takeUsage(order.emulators);
  const isOver = once(victim, 'exit');
  const startedMs = performance.now();
  victim.kill('SIGKILL');
  await isOver;
  const recovered = (await runTask(context, { ...order, task: 'recover' })) as Recovered;
  const totalMs = performance.now() - startedMs;
  return { ...recovered, totalMs, usage: await takeUsage(order.emulators) };
}

interface RecoveryFigures {
  readonly keys: number;
  readonly totalMs: number;
  readonly startMs: number;
  readonly commitMs: number;
  readonly requests: number;
  readonly s3Requests: number;
  readonly readUnits: number;
  readonly writeUnits: number;
}

function summarize(keys: number, rounds: readonly MeasuredRecovery[]): RecoveryFigures {
  const of = (value: (one: MeasuredRecovery) => number): number => median(rounds.map(value));
  return {
    keys,
    totalMs: of(({ totalMs }) => totalMs),
    startMs: of(({ startMs }) => startMs),
    commitMs: of(({ commitMs }) => commitMs),
    requests: of(({ usage }) => sumRequests(usage)),
    s3Requests: of(({ usage }) => sumOf(usage.s3)),
    readUnits: of(({ usage }) => sumTables(usage).readUnits),
    writeUnits: of(({ usage }) => sumTables(usage).writeUnits),
  };
}

function tabulateRatios({ sizes }: Plan, rows: readonly RecoveryFigures[]): BenchTable {
  const [small, large] = [rows[0]!, rows.at(-1)!];
  const times = sizes.at(-1)! / sizes[0]!;
  const ratioOf = (field: keyof RecoveryFigures, what: string) => ({
    what: `${what} with ${times} × the state`,
    ratio: large[field] / small[field],
  });
  return {
    title: 'What of a recovery grows with the state',
    columns: [
      { field: 'what', heading: 'what' },
      { field: 'ratio', heading: '×', digits: 3 },
    ],
    rows: [
      ratioOf('requests', 'requests'),
      ratioOf('readUnits', 'read units'),
      ratioOf('commitMs', 'time from the batch to its commit'),
      ratioOf('totalMs', 'time from the kill to the commit'),
    ],
  };
}

function tabulateSizes({ rounds, touched }: Plan, rows: readonly RecoveryFigures[]): BenchTable {
  return {
    title: `A recovery against the size of the state, a batch of ${touched} keys (medians of ${rounds})`,
    columns: [
      { field: 'keys', heading: 'keys' },
      { field: 'requests', heading: 'requests' },
      { field: 's3Requests', heading: 'of them S3' },
      { field: 'readUnits', heading: 'read units', digits: 1 },
      { field: 'writeUnits', heading: 'write units', digits: 1 },
      { field: 'startMs', heading: 'start of a process, ms' },
      { field: 'commitMs', heading: 'batch to commit, ms' },
      { field: 'totalMs', heading: 'kill to commit, ms' },
    ],
    rows: rows.map((row) => ({ ...row })),
  };
}
