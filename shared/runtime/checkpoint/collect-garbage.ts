import { HoldfastError } from '../../core/errors.ts';
import { isClonePinOlder, type Registry } from '../../core/registry.ts';
import { hasTimeFor, noDeadline, type Deadline } from '../deadline.ts';
import type { JobPorts } from '../job-ports.ts';
import { jobPrefix, parseObjectName } from '../object-names.ts';
import { changeRegistry, readRegistry } from './change-registry.ts';
import { createClassifier, type Verdict } from './classify-objects.ts';
import { findCommitted } from './committed-segments.ts';
import { gatherRoots } from './gather-garbage-facts.ts';
import { findPassedSpills } from './passed-spills.ts';

export interface CollectionOptions {
  /** How long pending work is left alone after its time is over, ms. */
  readonly graceMs: number;
  /** Deletes nothing and expires nothing, but says what it would delete. */
  readonly dryRun: boolean;
  /** Only objects whose names begin so are looked at. @default all of the job */
  readonly prefix?: string;
  /** @default none */
  readonly deadline?: Deadline;
  /** Names that are listed and judged at a time. @default 20,000 */
  readonly namesAtOnce?: number;
}

/** How many objects there are of each kind with each reason. */
export type Counts = Readonly<Record<string, number>>;

export interface CollectionReport {
  /** Every object was looked at. */
  readonly isDone: boolean;
  /** Pending work that was found too old, each as `<kind> <number>`. */
  readonly expired: readonly string[];
  readonly live: Counts;
  /** What cannot be told yet. */
  readonly unclear: Counts;
  /** What was deleted; in a dry run, what would be. */
  readonly deleted: Counts;
}

const namesAtOnceDefault = 20_000;

/** Names in one request to the store. */
const removalsAtOnce = 1000;

/** Nothing more is begun in the rest of an invocation, ms. */
const reserveMs = 20_000;

/**
 * Deletes what nothing needs any more (C7). The order is the safety: list, then read the job, then what is registered, then all
 * that it names; what is too old among the pending is taken away by compare-and-swap before anything that it could have read goes.
 *
 * It can die anywhere: what is left is garbage the next time, too. Two at once find the same.
 */
export async function collectGarbage(
  ports: JobPorts,
  options: CollectionOptions,
): Promise<CollectionReport> {
  const counts = { live: {}, unclear: {}, deleted: {} };
  const expired: string[] = [];
  const report = { ...counts, expired };
  const namesMax = options.namesAtOnce ?? namesAtOnceDefault;
  const listing = ports.objects.list(options.prefix ?? jobPrefix(ports.job));
  for await (const names of inGroups(listing, namesMax)) {
    if (!hasTimeFor(options.deadline ?? noDeadline, reserveMs)) return { ...report, isDone: false };
    await collectSome(ports, options, names, report);
  }
  return { ...report, isDone: true };
}

async function* inGroups(listing: AsyncIterable<string>, most: number): AsyncGenerator<string[]> {
  let names: string[] = [];
  for await (const name of listing) {
    names.push(name);
    if (names.length < most) continue;
    yield names;
    names = [];
  }
  if (names.length > 0) yield names;
}

interface OpenReport {
  readonly expired: string[];
  readonly live: Record<string, number>;
  readonly unclear: Record<string, number>;
  readonly deleted: Record<string, number>;
}

async function collectSome(
  ports: JobPorts,
  options: CollectionOptions,
  names: readonly string[],
  report: OpenReport,
): Promise<void> {
  // The job before the registry: whoever goes over to another generation has completed the undo point before (R5).
  const job = await ports.control.readJob(ports.job);
  if (job === undefined) {
    throw new HoldfastError(
      'fenced',
      `job ${ports.job} has no item in the control table; its tables may be lost, so nothing is collected. Restore it, or delete the bucket's objects by hand`,
    );
  }
  const registry = await expireStale(ports, options, report);
  const roots = await gatherRoots(ports, job, registry, names);
  const { present, listing, progress } = roots;
  const known = { present, listing, progress };
  const committedAt = await findCommitted(ports.objects, ports.job, names, known);
  const passed = await findPassedSpills(ports, roots, names);
  const judge = createClassifier({
    ...roots,
    committedAt,
    isSpillPassed: ({ name }) => passed.has(name),
  });
  const garbage: string[] = [];
  for (const name of names) {
    const verdict = judge(name);
    if (verdict.kind === 'garbage') garbage.push(name);
    count(report, parseObjectName(ports.job, name).kind, verdict);
  }
  if (!options.dryRun) await remove(ports, garbage);
}

/**
 * C7: whoever finds pending work too old takes it away, and then it can never complete; and the pin of a clone (R12), which then
 * either has its copy, or fails.
 */
async function expireStale(
  ports: JobPorts,
  { graceMs, dryRun }: CollectionOptions,
  report: OpenReport,
): Promise<Registry> {
  if (dryRun) return readRegistry(ports);
  const nowMs = ports.system.now();
  let expired: Registry['pending'] = [];
  const registry = await changeRegistry(ports, (there) => {
    expired = there.pending.filter(({ expiresAtMs }) => expiresAtMs + graceMs <= nowMs);
    const pins = there.pins.filter((pin) => !isClonePinOlder(pin, nowMs - graceMs));
    if (expired.length === 0 && pins.length === there.pins.length) return undefined;
    const failures = expired.filter(({ kind }) => kind === 'checkpoint').length;
    return {
      ...there,
      pins,
      pending: there.pending.filter((work) => !expired.includes(work)),
      failures: there.failures + failures,
      ...(failures > 0 ? { lastFailure: 'not complete in time' } : {}),
    };
  });
  report.expired.push(...expired.map(({ kind, number }) => `${kind} ${number}`));
  return registry;
}

/** Completion objects first: S3 must never tell of a manifest as complete whose files are going. */
async function remove({ objects }: JobPorts, garbage: readonly string[]): Promise<void> {
  const isCompletion = (name: string): boolean => /\.done$|\/done\.json$/.test(name);
  const ordered = [garbage.filter(isCompletion), garbage.filter((name) => !isCompletion(name))];
  for (const names of ordered) {
    for (let at = 0; at < names.length; at += removalsAtOnce) {
      await objects.remove(names.slice(at, at + removalsAtOnce));
    }
  }
}

function count(report: OpenReport, kind: string, verdict: Verdict): void {
  const counts = {
    live: report.live,
    unclear: report.unclear,
    garbage: report.deleted,
  }[verdict.kind];
  const what = `${kind}: ${verdict.reason}`;
  counts[what] = (counts[what] ?? 0) + 1;
}
