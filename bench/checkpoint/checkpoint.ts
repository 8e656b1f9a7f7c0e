import { createMemoryObjectStore } from '../../shared/adapters/memory/memory-object-store.ts';
import type { ObjectStore } from '../../shared/ports/object-store.ts';
import type { Bench, BenchContext, BenchTable } from '../harness/bench.ts';
import { median, takeTurns, timeMs } from '../harness/statistics.ts';
import { writeLargeState, type LargeStateShape } from '../state/large-state.ts';
import { forget, stateSteps, type StateStep } from '../state/state-steps.ts';
import { createBenchJob, type BenchJob } from './bench-job.ts';
import {
  measureCheckpoint,
  measureRecovery,
  mergeAll,
  type MeasuredCheckpoint,
  type MeasuredRecovery,
} from './measure-job.ts';

interface Plan {
  /** Sizes of the state, keys. */
  readonly sizes: readonly number[];
  /** Keys that are touched between two checkpoints, whatever the size. */
  readonly touched: number;
  /** Of which size the shares are, and which shares are touched between two checkpoints. */
  readonly sharesOf: number;
  readonly shares: readonly number[];
  readonly files: LargeStateShape;
  readonly rounds: number;
}

const shape = { stateBytes: 1_000, runShares: [1, 0.3] };

const plan: Plan = {
  sizes: [1_000, 10_000, 100_000, 1_000_000],
  touched: 1_000,
  sharesOf: 100_000,
  shares: [0.001, 0.01, 0.1, 1],
  files: { ...shape, keys: 100_000, segments: 40, keysOfSegment: 250 },
  rounds: 5,
};

const quickPlan: Plan = {
  sizes: [100, 1_000],
  touched: 100,
  sharesOf: 1_000,
  shares: [0.01, 0.1, 1],
  files: { ...shape, keys: 2_000, segments: 4, keysOfSegment: 50 },
  rounds: 5,
};

export const checkpoint: Bench = {
  name: 'checkpoint',
  what: 'checkpoints, recovery, compaction and restore against the size of the state, in memory',

  async run(context) {
    const used = context.isQuick ? quickPlan : plan;
    // First, before jobs fill the memory: collecting its garbage would be most of what is measured.
    const byStep = await measureFiles(context, used);
    const jobs = await fillJobs(context, used.sizes);
    const bySize = await measureSizes(context, used, jobs);
    const byShare = await measureShares(context, used, jobs);
    return [
      tabulateRatios(used, bySize, byShare),
      tabulateSizes(used, bySize),
      tabulateShares(used, byShare),
      tabulateFiles(byStep),
    ];
  },
};

interface FilledJob {
  readonly job: BenchJob;
  /** Bytes of all its keys in files: what a checkpoint that uploads everything would upload. */
  readonly fullBytes: number;
}

async function fillJobs(
  { log, scratch }: BenchContext,
  sizes: readonly number[],
): Promise<FilledJob[]> {
  const filled: FilledJob[] = [];
  for (const keys of sizes) {
    log(`filling a state of ${keys} keys`);
    const job = await createBenchJob(keys, () => scratch.breathe());
    const { fileBytes } = await mergeAll(job);
    await measureCheckpoint(job);
    filled.push({ job, fullBytes: fileBytes });
  }
  return filled;
}

interface SizeRow {
  readonly keys: number;
  readonly fullBytes: number;
  readonly checkpoints: readonly MeasuredCheckpoint[];
  readonly recoveries: readonly MeasuredRecovery[];
}

async function measureSizes(
  { log, scratch }: BenchContext,
  { rounds, touched }: Plan,
  jobs: readonly FilledJob[],
): Promise<SizeRow[]> {
  const measured = await takeTurns(rounds, jobs, async ({ job }, round) => {
    log(`round ${round + 1} of ${rounds}: checkpoint and recovery of ${job.keys} keys`);
    await job.touch(Math.min(touched, job.keys));
    await scratch.breathe();
    const cut = await measureCheckpoint(job);
    const recovery = await measureRecovery(job, Math.min(touched, job.keys));
    // The next one is to list what is touched from here on.
    await measureCheckpoint(job);
    return { cut, recovery };
  });
  return jobs.map(({ job: { keys }, fullBytes }, at) => ({
    keys,
    fullBytes,
    checkpoints: measured[at]!.map(({ cut }) => cut),
    recoveries: measured[at]!.map(({ recovery }) => recovery),
  }));
}

interface ShareRow {
  readonly share: number;
  readonly fullBytes: number;
  readonly checkpoints: readonly MeasuredCheckpoint[];
}

async function measureShares(
  { log, scratch }: BenchContext,
  { rounds, shares, sharesOf }: Plan,
  jobs: readonly FilledJob[],
): Promise<ShareRow[]> {
  const { job, fullBytes } = jobs.find((one) => one.job.keys === sharesOf)!;
  const measured = await takeTurns(rounds, shares, async (share, round) => {
    log(`round ${round + 1} of ${rounds}: checkpoint with ${share * 100} % of the keys touched`);
    // Each begins with all segments merged, as after a while of quiet.
    await mergeAll(job);
    await measureCheckpoint(job);
    await job.touch(Math.round(share * job.keys));
    await scratch.breathe();
    return measureCheckpoint(job);
  });
  return shares.map((share, at) => ({ share, fullBytes, checkpoints: measured[at]! }));
}

interface StepRow {
  readonly step: StateStep;
  readonly keys: number;
  /** What the step goes through, before compression. */
  readonly bytes: number;
  readonly seconds: number;
}

const steps: readonly StateStep[] = ['compact', 'verify', 'load'];

async function measureFiles(
  { log, scratch }: BenchContext,
  { files, rounds }: Plan,
): Promise<StepRow[]> {
  log(`writing the files of ${files.keys} keys`);
  const memory = createMemoryObjectStore();
  // Whole files are few: letting signals in at each costs nothing.
  const objects: ObjectStore = {
    ...memory,
    async create(name, bytes) {
      await scratch.breathe();
      return memory.create(name, bytes);
    },
    async read(name) {
      await scratch.breathe();
      return memory.read(name);
    },
  };
  const { stateBytes, entryBytes } = await writeLargeState(objects, files);
  const measured = await takeTurns(rounds, steps, async (step, round) => {
    log(`round ${round + 1} of ${rounds}: ${step}`);
    await scratch.breathe();
    if (step === 'compact') await forget(objects);
    return timeMs(() => stateSteps[step](objects));
  });
  return steps.map((step, at) => ({
    step,
    keys: files.keys,
    bytes: step === 'compact' ? entryBytes : stateBytes,
    seconds: median(measured[at]!) / 1_000,
  }));
}

function medianOf<Measured>(
  measured: readonly Measured[],
  value: (one: Measured) => number,
): number {
  return median(measured.map(value));
}

function tabulateRatios(
  { sizes }: Plan,
  bySize: readonly SizeRow[],
  byShare: readonly ShareRow[],
): BenchTable {
  const [small, large] = [bySize[0]!, bySize.at(-1)!];
  const times = sizes.at(-1)! / sizes[0]!;
  const ratio = (value: (row: SizeRow) => number): number => value(large) / value(small);
  const ofState = `with ${times} × the state`;
  return {
    title: 'What grows with the state, and what does not',
    columns: [
      { field: 'what', heading: 'what' },
      { field: 'ratio', heading: '×', digits: 4 },
    ],
    rows: [
      {
        what: `requests of a checkpoint ${ofState}`,
        ratio: ratio(({ checkpoints }) => medianOf(checkpoints, ({ requests }) => requests)),
      },
      {
        what: `time of a checkpoint ${ofState}`,
        ratio: ratio(({ checkpoints }) => medianOf(checkpoints, ({ ms }) => ms)),
      },
      {
        what: `requests of a recovery ${ofState}`,
        ratio: ratio(({ recoveries }) => medianOf(recoveries, ({ requests }) => requests)),
      },
      {
        what: `time of a recovery ${ofState}`,
        ratio: ratio(({ recoveries }) => medianOf(recoveries, ({ ms }) => ms)),
      },
      ...byShare.map(({ share, fullBytes, checkpoints }) => ({
        what: `bytes uploaded, of a full upload, with ${share * 100} % of the keys touched`,
        ratio: medianOf(checkpoints, ({ newBytes }) => newBytes) / fullBytes,
      })),
    ],
  };
}

function tabulateSizes({ rounds, touched }: Plan, rows: readonly SizeRow[]): BenchTable {
  return {
    title: `A checkpoint and a recovery against the size of the state, ${touched} keys touched (medians of ${rounds})`,
    columns: [
      { field: 'keys', heading: 'keys' },
      { field: 'fullBytes', heading: 'state in files, bytes' },
      { field: 'checkpointRequests', heading: 'checkpoint requests' },
      { field: 'checkpointMs', heading: 'ms', digits: 2 },
      { field: 'manifestBytes', heading: 'bytes it writes' },
      { field: 'uploadedBytes', heading: 'uploaded before it' },
      { field: 'recoveryRequests', heading: 'recovery requests' },
      { field: 'recoveryMs', heading: 'ms', digits: 2 },
    ],
    rows: rows.map(({ keys, fullBytes, checkpoints, recoveries }) => ({
      keys,
      fullBytes,
      checkpointRequests: medianOf(checkpoints, ({ requests }) => requests),
      checkpointMs: medianOf(checkpoints, ({ ms }) => ms),
      manifestBytes: medianOf(checkpoints, ({ manifestBytes }) => manifestBytes),
      uploadedBytes: medianOf(checkpoints, ({ newBytes }) => newBytes),
      recoveryRequests: medianOf(recoveries, ({ requests }) => requests),
      recoveryMs: medianOf(recoveries, ({ ms }) => ms),
    })),
  };
}

function tabulateShares({ rounds, sharesOf }: Plan, rows: readonly ShareRow[]): BenchTable {
  return {
    title: `A checkpoint against the share of ${sharesOf} keys that was touched since the one before (medians of ${rounds})`,
    columns: [
      { field: 'touchedPercent', heading: 'touched %', digits: 1 },
      { field: 'requests', heading: 'requests' },
      { field: 'ms', heading: 'ms', digits: 2 },
      { field: 'segments', heading: 'segments' },
      { field: 'incrementalBytes', heading: 'uploaded bytes' },
      { field: 'fullBytes', heading: 'in full' },
      { field: 'incrementalOfFull', heading: 'ratio', digits: 4 },
    ],
    rows: rows.map(({ share, fullBytes, checkpoints }) => {
      const incrementalBytes = medianOf(checkpoints, ({ newBytes }) => newBytes);
      return {
        touchedPercent: share * 100,
        requests: medianOf(checkpoints, ({ requests }) => requests),
        ms: medianOf(checkpoints, ({ ms }) => ms),
        segments: medianOf(checkpoints, ({ segments }) => segments),
        incrementalBytes,
        fullBytes,
        incrementalOfFull: incrementalBytes / fullBytes,
      };
    }),
  };
}

function tabulateFiles(rows: readonly StepRow[]): BenchTable {
  return {
    title: 'Merging, checking and loading files in one process, stores in memory',
    columns: [
      { field: 'step', heading: 'step' },
      { field: 'keys', heading: 'keys' },
      { field: 'megabytes', heading: 'goes through MB', digits: 1 },
      { field: 'seconds', heading: 's', digits: 2 },
      { field: 'megabytesPerSecond', heading: 'MB/s', digits: 1 },
      { field: 'keysPerSecond', heading: 'keys/s' },
    ],
    rows: rows.map(({ step, keys, bytes, seconds }) => ({
      step,
      keys,
      megabytes: bytes / 1e6,
      seconds,
      megabytesPerSecond: bytes / 1e6 / seconds,
      keysPerSecond: keys / seconds,
    })),
  };
}
