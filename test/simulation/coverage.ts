import { formatTable } from '../../cli/table.ts';
import { kindOfStep } from './engine/gate.ts';
import type { SimulationRun } from './simulation-run.ts';

/** What can go wrong with a call. */
export type Fault =
  'killed before' | 'killed after' | 'refused' | 'reply-lost' | 'corrupted' | 'stale';

const deaths: readonly Fault[] = ['killed before', 'killed after'];
const read: readonly Fault[] = [...deaths, 'refused'];
const write: readonly Fault[] = [...read, 'reply-lost'];

const faults: readonly Fault[] = [...write, 'corrupted', 'stale'];

/** Every call that waits at the gate, with each of its faults: that many simulated runs must come to all of them. */
export const calls: Readonly<Record<string, readonly Fault[]>> = {
  'state.load': read,
  'state.write': write,
  'state.expire': write,
  'state.scan': read,
  'state.remove': write,
  'job.create': write,
  'job.read': read,
  'job.replace': write,
  'progress.read': read,
  'progress.commit': write,
  'progress.fence': write,
  'progress.create': write,
  // A transaction: who does not hear of it looks, so that it never fails.
  'progress.bear': [...deaths, 'reply-lost'],
  'registry.read': read,
  'registry.write': write,
  'channels.list': read,
  'suspicion.read': read,
  'suspicion.write': write,
  'hint.find': read,
  'hint.insert': write,
  'hint.remove': write,
  'object.create': write,
  'object.read': [...read, 'corrupted'],
  'object.start': [...read, 'corrupted'],
  'object.range': [...read, 'corrupted'],
  'object.remove': write,
  'object.list': read,
  'stream.describe': read,
  'stream.shards': [...read, 'stale'],
  'shard.page': read,
  'cloned.registry.read': read,
  'cloned.registry.write': write,
  'cloned.object.read': read,
  'cloned.object.start': read,
  'clock.sleep': deaths,
  'sink.write': write,
  'sink.scan': deaths,
  'sink.remove': write,
};

/** Calls that runs of some kinds alone come to: where tables are lost, and where there are clones. */
export const callsOfKinds: readonly string[] = [
  'job.create',
  ...Object.keys(calls).filter((call) => call.startsWith('cloned.')),
];

/** Files of simulated jobs are so small that whoever reads their heads has all of them. */
const mayBeAbsent = new Set(['object.range', ...callsOfKinds]);

/** What many runs have met. */
export interface Coverage {
  /** How many times each fault has hit each call: `reply-lost × state.write`. */
  readonly strikes: ReadonlyMap<string, number>;
  /** How many steps each call has taken. */
  readonly steps: ReadonlyMap<string, number>;
}

/** What one run has met. */
export function coverageOf({ trace, strikes }: SimulationRun): Coverage {
  const steps = new Map<string, number>();
  for (const line of trace) {
    const call = callOf(line);
    if (call !== undefined) addCount(steps, call, 1);
  }
  const struck = new Map<string, number>();
  for (const [pair, count] of strikes) {
    const [fault, kind] = pair.split(' × ');
    addCount(struck, `${fault!} × ${withoutSinkName(kind!)}`, count);
  }
  return { steps, strikes: struck };
}

export function addCounts(
  a: ReadonlyMap<string, number>,
  b: ReadonlyMap<string, number>,
): Map<string, number> {
  const sum = new Map(a);
  for (const [name, count] of b) addCount(sum, name, count);
  return sum;
}

function addCount(sum: Map<string, number>, name: string, count: number): void {
  sum.set(name, (sum.get(name) ?? 0) + count);
}

/** What is missing, in words: pairs that must occur and did not, calls that never came, calls that nobody has said a word of. */
export function missingCoverage({ strikes, steps }: Coverage): string[] {
  const missing = Object.entries(calls).flatMap(([call, itsFaults]) => {
    if (!steps.has(call)) return mayBeAbsent.has(call) ? [] : [`no run calls ${call}`];
    return itsFaults
      .filter((fault) => !strikes.has(`${fault} × ${call}`))
      .map((fault) => `${fault} × ${call} never happened`);
  });
  const unknown = [...steps.keys()].filter((call) => !(call in calls));
  return [
    ...missing,
    ...unknown.map((call) => `${call} is called: say in coverage.ts what can go wrong with it`),
  ];
}

/** Calls by faults: how many times; `0` where it must happen and did not, nothing where it cannot. */
export function formatCoverage({ strikes, steps }: Coverage): string {
  const names = [...new Set([...Object.keys(calls), ...steps.keys()])].sort();
  const rows = names.map((call) => [
    call,
    String(steps.get(call) ?? 0),
    ...faults.map((fault) => {
      const count = strikes.get(`${fault} × ${call}`);
      return String(count ?? (calls[call]?.includes(fault) === true ? 0 : ''));
    }),
  ]);
  const numbers = ['steps', ...faults].map((heading) => ({ heading, isNumber: true }));
  return formatTable([{ heading: 'call' }, ...numbers], rows);
}

/** The call of a step of a trace; undefined for lines that say something else. */
function callOf(line: string): string | undefined {
  const [, kind] = /^\S+ (?:before|after) (\S+)/.exec(line) ?? [];
  return kind === undefined ? undefined : withoutSinkName(kindOfStep(kind));
}

/** All sinks are called alike: `sink.journal` is `sink.write`, `sink.journal.scan` is `sink.scan`. */
function withoutSinkName(kind: string): string {
  return kind.replace(
    /^sink\.[^.]+(\.(scan|remove))?$/,
    (_, __, verb?: string) => `sink.${verb ?? 'write'}`,
  );
}
