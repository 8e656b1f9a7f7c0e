import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { Bench, BenchContext, BenchTable } from '../harness/bench.ts';
import { median, takeTurns } from '../harness/statistics.ts';
import { createFileObjectStore } from './file-object-store.ts';
import type { LargeState, LargeStateShape } from './large-state.ts';
import { forget, type StateStep, type StepResult } from './state-steps.ts';

interface Plan {
  /** A quarter of the large one, to show what of the peak grows with the state. */
  readonly small: LargeStateShape;
  readonly large: LargeStateShape;
  readonly rounds: number;
}

const shape = { stateBytes: 1_000, runShares: [1, 0.3, 0.1] };

const plan: Plan = {
  small: { ...shape, keys: 450_000, segments: 80, keysOfSegment: 250 },
  large: { ...shape, keys: 1_800_000, segments: 80, keysOfSegment: 250 },
  // It shows what memory is needed, which hardly differs from round to round; each takes some five minutes.
  rounds: 1,
};

const quickPlan: Plan = {
  small: { ...shape, keys: 1_000, segments: 4, keysOfSegment: 50 },
  large: { ...shape, keys: 4_000, segments: 4, keysOfSegment: 50 },
  rounds: 1,
};

/** No step may ever have more resident, bytes. */
const peakBytesMax = 512e6;

/** How Node keeps its heap. */
interface Heap {
  readonly label: string;
  readonly flags: readonly string[];
}

/** The more memory a machine has, the more garbage Node lets lie before it looks for any. */
const ownHeap: Heap = { label: 'as here', flags: [] };

/** No tighter than what Node chooses by itself where it has 1 GB, as the coordinator's function has. */
const functionHeap: Heap = {
  label: 'as in 1 GB',
  flags: ['--max-old-space-size=512', '--max-semi-space-size=4'],
};

const steps: readonly StateStep[] = ['compact', 'verify', 'load'];

const processModule = path.join(import.meta.dirname, 'state-process.ts');

export const state2gb: Bench = {
  name: 'state-2gb',
  what: 'peak memory and speed of a compaction, a verification and a load of 2 GB of state',

  async run(context) {
    const { small, large, rounds } = context.isQuick ? quickPlan : plan;
    const smallState = await writeState(context, 'small', small);
    const largeState = await writeState(context, 'large', large);
    const variants: readonly Variant[] = [
      { ...smallState, heap: ownHeap },
      { ...largeState, heap: ownHeap },
      { ...largeState, heap: functionHeap },
    ];
    const measured = await takeTurns(rounds, variants, (variant, round) => {
      context.log(
        `round ${round + 1} of ${rounds}: ${variant.label} state, heap ${variant.heap.label}`,
      );
      return runSteps(context, variant);
    });
    for (const { folder } of [smallState, largeState]) rmSync(folder, { recursive: true });
    const results = variants.flatMap((variant, at) =>
      steps.map((step) =>
        summarize(
          variant,
          step,
          measured[at]!.map((round) => round.get(step)!),
        ),
      ),
    );
    return [tabulateRatios(results), tabulateFigures(results, rounds)];
  },
};

type WrittenState = Omit<LargeState, 'manifest'>;

interface StateOnDisk {
  readonly label: 'small' | 'large';
  readonly folder: string;
  readonly written: WrittenState;
}

interface Variant extends StateOnDisk {
  readonly heap: Heap;
}

async function writeState(
  { scratch, log }: BenchContext,
  label: StateOnDisk['label'],
  state: LargeStateShape,
): Promise<StateOnDisk> {
  log(`writing a state of ${state.keys} keys`);
  const folder = path.join(scratch.folder, label);
  mkdirSync(folder);
  const written = await scratch.run(processModule, ['write', folder, JSON.stringify(state)]);
  return { label, folder, written: written as WrittenState };
}

/** What a process of `state-process.ts` tells of its step. */
interface MeasuredStep extends StepResult {
  readonly seconds: number;
  /** With all code loaded, before anything was done; and the most until the end. */
  readonly startRssBytes: number;
  readonly peakRssBytes: number;
}

/** Runs the steps one after the other, each in a process of its own. */
async function runSteps(
  { scratch }: BenchContext,
  { folder, heap }: Variant,
): Promise<ReadonlyMap<StateStep, MeasuredStep>> {
  const measured = new Map<StateStep, MeasuredStep>();
  for (const step of steps) {
    const result = await scratch.run(processModule, [step, folder], heap.flags);
    measured.set(step, result as MeasuredStep);
  }
  await forget(createFileObjectStore(folder));
  return measured;
}

interface StepSummary extends Variant {
  readonly step: StateStep;
  readonly keys: number;
  readonly fileBytes: number;
  readonly startRssBytes: number;
  /** The most of all rounds. */
  readonly peakRssBytes: number;
  readonly seconds: number;
}

function summarize(
  variant: Variant,
  step: StateStep,
  rounds: readonly MeasuredStep[],
): StepSummary {
  const { keys, fileBytes } = rounds[0]!;
  return {
    ...{ ...variant, step, keys, fileBytes },
    startRssBytes: median(rounds.map(({ startRssBytes }) => startRssBytes)),
    peakRssBytes: Math.max(...rounds.map(({ peakRssBytes }) => peakRssBytes)),
    seconds: median(rounds.map(({ seconds }) => seconds)),
  };
}

const megabyte = 1e6;

function tabulateRatios(results: readonly StepSummary[]): BenchTable {
  const smallOnes = results.filter(({ label }) => label === 'small');
  const largeOnes = results.filter(({ label }) => label === 'large');
  return {
    title: `The peak against the state; ${peakBytesMax / megabyte} MB are allowed`,
    columns: [
      { field: 'step', heading: 'step' },
      { field: 'heap', heading: 'heap' },
      { field: 'stateRatio', heading: 'state ×', digits: 2 },
      { field: 'peakRatio', heading: 'peak ×', digits: 2 },
      { field: 'peakOfState', heading: 'peak / state', digits: 3 },
      { field: 'peakRssMegabytes', heading: 'peak MB' },
      { field: 'isAllowed', heading: 'allowed' },
    ],
    rows: largeOnes.map(({ step, heap, written, peakRssBytes }) => {
      const small = smallOnes.find((one) => one.step === step)!;
      const isSame = small.heap === heap;
      return {
        step,
        heap: heap.label,
        stateRatio: isSame ? written.stateBytes / small.written.stateBytes : undefined,
        peakRatio: isSame ? peakRssBytes / small.peakRssBytes : undefined,
        peakOfState: peakRssBytes / written.stateBytes,
        peakRssMegabytes: peakRssBytes / megabyte,
        isAllowed: peakRssBytes < peakBytesMax ? 'yes' : 'NO',
      };
    }),
  };
}

function tabulateFigures(results: readonly StepSummary[], rounds: number): BenchTable {
  return {
    title: `Steps over a state in files, each in a process of its own (peaks: the most, the rest: medians, of ${rounds})`,
    columns: [
      { field: 'step', heading: 'step' },
      { field: 'heap', heading: 'heap' },
      { field: 'keys', heading: 'keys' },
      { field: 'stateMegabytes', heading: 'state MB' },
      { field: 'readMegabytes', heading: 'goes through MB' },
      { field: 'fileMegabytes', heading: 'result in files MB' },
      { field: 'startRssMegabytes', heading: 'start MB' },
      { field: 'peakRssMegabytes', heading: 'peak MB' },
      { field: 'seconds', heading: 's', digits: 1 },
      { field: 'megabytesPerSecond', heading: 'MB/s', digits: 1 },
      { field: 'keysPerSecond', heading: 'keys/s' },
    ],
    rows: results.map(({ step, heap, keys, written, fileBytes, seconds, ...rss }) => {
      // A merge reads all that there is of a key; the others read what it has made.
      const bytes = step === 'compact' ? written.entryBytes : written.stateBytes;
      return {
        step,
        heap: heap.label,
        keys,
        stateMegabytes: written.stateBytes / megabyte,
        readMegabytes: bytes / megabyte,
        fileMegabytes: fileBytes / megabyte,
        startRssMegabytes: rss.startRssBytes / megabyte,
        peakRssMegabytes: rss.peakRssBytes / megabyte,
        seconds,
        megabytesPerSecond: bytes / megabyte / seconds,
        keysPerSecond: keys / seconds,
      };
    }),
  };
}
