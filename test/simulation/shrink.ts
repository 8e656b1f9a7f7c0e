import { calm, recordDraws, replayDraws } from './random-draws.ts';
import type { Simulate, SimulationRun } from './simulation-run.ts';

/** The smallest run so far that finds the same. */
export interface Shrunk {
  readonly run: SimulationRun;
  /** What gives that run again, calm draws at its end left out. */
  readonly draws: readonly number[];
  /** Runs that it took. */
  readonly runs: number;
}

export interface ShrinkOptions {
  /** Asked before each run; once false, what is the smallest so far is the result. */
  readonly mayGoOn: () => boolean;
  readonly onSmaller?: (shrunk: Shrunk) => void;
}

/** In the order of weight: a run with fewer steps is smaller, whatever else. */
type Size = readonly [
  steps: number,
  strikes: number,
  switches: number,
  wildDraws: number,
  sum: number,
];

/** Of a single draw: so that one of 16 choices is found. */
const bisections = 4;
/** How many draws behind one that is lowered are tried to go with it. */
const followers = [0, 1, 2, 4, 8];

/**
 * Looks for a smaller run that finds what the run of these draws finds: chunks of the draws are made calm or cut out, from
 * half of them down to single ones, and single ones are lowered, until nothing helps any more.
 *
 * @throws Error where the run of these draws finds nothing
 */
export async function shrinkRun(
  simulate: Simulate,
  draws: readonly number[],
  { mayGoOn, onSmaller }: ShrinkOptions,
): Promise<Shrunk> {
  const first = await replay(simulate, draws);
  const wanted = first.run.findings[0];
  if (wanted === undefined) throw new Error('there is nothing to shrink: the run finds nothing');
  const shape = shapeOf(wanted);
  let best = first;
  let runs = 1;
  const shrunk = (): Shrunk => ({ run: best.run, draws: best.draws, runs });

  /** True where these draws give a smaller run, which is the best one then. */
  const attempt = async (candidate: readonly number[]): Promise<boolean> => {
    if (!mayGoOn()) return false;
    runs += 1;
    const next = await replay(simulate, candidate);
    const isSame = next.run.findings.some((finding) => shapeOf(finding) === shape);
    if (!isSame || compareSizes(next.size, best.size) >= 0) return false;
    best = next;
    onSmaller?.(shrunk());
    return true;
  };

  const shrinkChunks = async (length: number): Promise<void> => {
    for (let at = 0; at < best.draws.length && mayGoOn();) {
      const { draws: all } = best;
      const end = Math.min(at + length, all.length);
      if (all.slice(at, end).every((draw) => draw === calm)) {
        at = end;
        continue;
      }
      const calmed = all.map((draw, index) => (at <= index && index < end ? calm : draw));
      const cut = [...all.slice(0, at), ...all.slice(end)];
      // What comes behind a cut is not tried yet.
      if (await attempt(cut)) continue;
      await attempt(calmed);
      at = end;
    }
  };

  /** What a draw that was a number of things has brought along goes with it. */
  const lowerDraw = async (at: number, value: number): Promise<boolean> => {
    for (const cut of followers) {
      const { draws: all } = best;
      if (await attempt([...all.slice(0, at), value, ...all.slice(at + 1 + cut)])) return true;
    }
    return false;
  };
  const lowerDraws = async (): Promise<void> => {
    for (let at = 0; at < best.draws.length && mayGoOn(); at += 1) {
      if (best.draws[at] === 0 || (await lowerDraw(at, 0))) continue;
      let tooLow = 0;
      for (let step = 0; step < bisections; step += 1) {
        const middle = (tooLow + (best.draws[at] ?? 0)) / 2;
        if (!(await lowerDraw(at, middle))) tooLow = middle;
      }
    }
  };

  let before: Size;
  do {
    before = best.size;
    for (let length = Math.ceil(best.draws.length / 2); ; length = Math.ceil(length / 2)) {
      await shrinkChunks(length);
      if (length <= 1) break;
    }
    await lowerDraws();
  } while (compareSizes(best.size, before) < 0 && mayGoOn());
  return shrunk();
}

interface Replayed {
  readonly run: SimulationRun;
  readonly draws: readonly number[];
  readonly size: Size;
}

async function replay(simulate: Simulate, candidate: readonly number[]): Promise<Replayed> {
  const source = recordDraws(replayDraws(candidate));
  const run = await simulate(source.random);
  const draws = source.draws.slice(0, source.draws.findLastIndex((draw) => draw !== calm) + 1);
  const wild = draws.filter((draw) => draw !== calm);
  const size: Size = [
    run.trace.length,
    countStrikes(run),
    countSwitches(run),
    wild.length,
    wild.reduce((total, draw) => total + draw, 0),
  ];
  return { run, draws, size };
}

/** How many times another process goes on: the fewer, the easier it is to see what happens. */
function countSwitches({ trace }: SimulationRun): number {
  const owners = trace.filter((line) => !line.startsWith(' ')).map((line) => line.split(' ', 1)[0]);
  return owners.filter((owner, at) => owner !== owners[at - 1]).length;
}

export function countStrikes({ strikes }: Pick<SimulationRun, 'strikes'>): number {
  return [...strikes.values()].reduce((sum, count) => sum + count, 0);
}

function compareSizes(a: Size, b: Size): number {
  const at = a.findIndex((part, index) => part !== b[index]);
  return at < 0 ? 0 : a[at]! - b[at]!;
}

/** A finding without what differs from run to run: numbers, and the data that it quotes. */
export function shapeOf(finding: string): string {
  return finding
    .replace(/\d+/g, '')
    .split(' ')
    .map((word) => (/^[\p{L}:,.'’✝-]*$/u.test(word) ? word : '…'))
    .join(' ')
    .replace(/…( …)+/g, '…');
}
