import { openSeed, simulate, type Kind } from './kinds.ts';
import { recordDraws } from './random-draws.ts';
import { reproduce } from './reproduce.ts';
import { countStrikes, shrinkRun, type Shrunk } from './shrink.ts';
import type { SimulationRun } from './simulation-run.ts';
import { tellEnd, tellTrace } from './tell-trace.ts';

export interface ReplayFlags {
  readonly kind?: Kind;
  readonly trace: boolean;
  readonly shrink: boolean;
  /** s */
  readonly budget: number;
  readonly json: boolean;
}

/** Runs one seed again, and prints what it finds; the exit code. */
export async function replaySeed(seed: number, flags: ReplayFlags): Promise<number> {
  const { kind, random } = openSeed(seed, flags.kind);
  const source = recordDraws(random);
  const run = await simulate(kind, source.random);
  const fails = run.findings.length > 0;
  const shrunk = fails && flags.shrink ? await shrink(kind, source.draws, flags.budget) : undefined;
  if (flags.json) {
    const { findings, trace, strikes } = run;
    const told = { seed, kind, findings, strikes: Object.fromEntries(strikes) };
    const traced = flags.trace ? { trace } : {};
    const smallest =
      shrunk === undefined
        ? {}
        : { shrunk: { findings: shrunk.run.findings, trace: shrunk.run.trace } };
    console.log(JSON.stringify({ ...told, ...traced, ...smallest }, undefined, 2));
    return fails ? 1 : 0;
  }
  console.log(`seed ${seed} (${kind}): ${tellSize(run, source.draws)}`);
  console.log(flags.trace ? tellTrace(run) : tellEnd(run));
  if (shrunk !== undefined) {
    console.log(
      `\nthe smallest of ${shrunk.runs} runs that fail so: ${tellSize(shrunk.run, shrunk.draws)}\n`,
    );
    console.log(tellTrace(shrunk.run));
  }
  if (fails) console.log(`\n${reproduce(seed, flags.kind)}`);
  return fails ? 1 : 0;
}

async function shrink(kind: Kind, draws: readonly number[], budget: number): Promise<Shrunk> {
  const endMs = Date.now() + budget * 1000;
  const { stderr } = process;
  const shrunk = await shrinkRun((random) => simulate(kind, random), draws, {
    mayGoOn: () => Date.now() < endMs,
    onSmaller({ run, runs }) {
      if (stderr.isTTY) stderr.write(`\rshrinking: ${run.trace.length} steps after ${runs} runs  `);
    },
  });
  if (stderr.isTTY) stderr.write('\n');
  return shrunk;
}

function tellSize(run: SimulationRun, draws: readonly number[]): string {
  return `${run.trace.length} steps, ${countStrikes(run)} faults, ${draws.length} draws`;
}
