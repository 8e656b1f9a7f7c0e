import { SingleBar } from 'cli-progress';
import { formatFacts } from '../../cli/table.ts';
import { formatCoverage, missingCoverage } from './coverage.ts';
import type { Kind } from './kinds.ts';
import { replaySeed, type ReplayFlags } from './replay-seed.ts';
import { reproduce } from './reproduce.ts';
import { runSeeds } from './run-seeds.ts';
import type { Totals } from './seed-chunk.ts';

export interface ExploreFlags extends ReplayFlags {
  readonly seeds: number;
  readonly from: number;
  readonly kind?: Kind;
  readonly jobs: number;
  readonly all: boolean;
  readonly coverage: boolean;
}

const findingsShown = 5;

/** Runs a range of seeds and prints what they have come to; the exit code. */
export async function exploreSeeds(flags: ExploreFlags): Promise<number> {
  const stop = stopOnSignals();
  const display = createDisplay(flags.seeds);
  let totals: Totals;
  try {
    const { signal } = stop;
    const onProgress = display.show;
    totals = await runSeeds({ ...flags, isWhole: flags.all, signal, onProgress });
  } finally {
    display.end();
    stop.ignore();
  }
  const { failures } = totals;
  console.log(flags.json ? formatJson(totals, flags) : formatTotals(totals, flags));
  const [first] = failures;
  const wantsMore = first !== undefined && !flags.json && (flags.trace || flags.shrink);
  if (wantsMore && !stop.signal.aborted) await replaySeed(first.seed, flags);
  return stop.exitCode() ?? (first === undefined ? 0 : 1);
}

function formatJson(totals: Totals, { kind, from, seeds, coverage }: ExploreFlags): string {
  const { failures, runs, events, steps, strikes } = totals;
  const told = {
    ...{ from, seeds },
    runs: Object.fromEntries(runs),
    failures: failures.map((failure) => ({ ...failure, command: reproduce(failure.seed, kind) })),
    events: Object.fromEntries(events),
    steps: Object.fromEntries(steps),
    strikes: Object.fromEntries(strikes),
    ...(coverage ? { missing: missingCoverage(totals) } : {}),
  };
  return JSON.stringify(told, undefined, 2);
}

function formatTotals(totals: Totals, flags: ExploreFlags): string {
  const { failures, runs, events } = totals;
  const parts = failures.flatMap(({ seed, kind, findings }) => [
    `seed ${seed} (${kind}): ${findings[0]!}`,
    ...findings.slice(1, findingsShown).map((finding) => `  ${finding}`),
    `  ${reproduce(seed, flags.kind)}`,
    '',
  ]);
  const facts: [string, string][] = [
    ['seeds', `${format(sumOf(runs))} from ${flags.from}`],
    ['runs', tell(runs)],
    ['steps', format(sumOf(totals.steps))],
    ['faults', tell(sumFaults(totals))],
    ['events', tell(events)],
    ['failed', format(failures.length)],
  ];
  parts.push(formatFacts(facts));
  if (flags.coverage) parts.push('', formatCoverage(totals), '', ...missingCoverage(totals));
  return parts.join('\n');
}

/** How many times each fault has struck, whatever it has hit. */
export function sumFaults({ strikes }: Pick<Totals, 'strikes'>): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [pair, count] of strikes) {
    const fault = pair.split(' × ')[0]!;
    sums.set(fault, (sums.get(fault) ?? 0) + count);
  }
  return sums;
}

function tell(counts: ReadonlyMap<string, number>): string {
  const names = [...counts.keys()].sort();
  return names.map((name) => `${format(counts.get(name)!)} ${name}`).join(', ');
}

function sumOf(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

function format(value: number): string {
  return value.toLocaleString('en-US');
}

interface Display {
  show(totals: Totals): void;
  end(): void;
}

/** A progress bar on terminals, a line now and then elsewhere; both on standard error. */
function createDisplay(total: number): Display {
  const { stderr } = process;
  const told = ({ runs, failures }: Totals) => ({ done: sumOf(runs), failed: failures.length });
  if (!stderr.isTTY) {
    let quarter = 0;
    return {
      show(totals) {
        const { done, failed } = told(totals);
        const reached = Math.floor((4 * done) / total);
        if (reached > quarter) stderr.write(`${done}/${total} seeds, ${failed} failed\n`);
        quarter = reached;
      },
      end: () => undefined,
    };
  }
  const bar = new SingleBar({
    format: 'seeds [{bar}] {value}/{total} · {failed} failed',
    stream: stderr,
    hideCursor: true,
    clearOnComplete: true,
  });
  bar.start(total, 0, { failed: 0 });
  return {
    show(totals) {
      const { done, failed } = told(totals);
      bar.update(done, { failed });
    },
    end: () => bar.stop(),
  };
}

interface Stop {
  readonly signal: AbortSignal;
  /** Of a run that was stopped. */
  exitCode(): number | undefined;
  ignore(): void;
}

function stopOnSignals(): Stop {
  const controller = new AbortController();
  let exitCode: number | undefined;
  const stopWith = (code: number) => (): void => {
    exitCode = code;
    controller.abort();
  };
  const [onInterrupt, onTerminate] = [stopWith(130), stopWith(143)];
  process.once('SIGINT', onInterrupt).once('SIGTERM', onTerminate);
  return {
    signal: controller.signal,
    exitCode: () => exitCode,
    ignore: () => void process.off('SIGINT', onInterrupt).off('SIGTERM', onTerminate),
  };
}
