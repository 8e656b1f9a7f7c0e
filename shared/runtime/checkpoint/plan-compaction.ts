import {
  decodePlan,
  encodePlan,
  type CompactionPlan,
  type DropRange,
  type MergeSource,
  type MergeStep,
} from '../../core/compaction-plan.ts';
import { HoldfastError } from '../../core/errors.ts';
import { cutRanges, earliestRanges } from '../../core/key-cuts.ts';
import type { ChannelCut, Manifest } from '../../core/manifest.ts';
import { compareTexts } from '../../core/position.ts';
import type { PendingWork } from '../../core/registry.ts';
import { hasObjectBelow } from '../has-object.ts';
import { inParallel } from '../in-parallel.ts';
import type { JobPorts } from '../job-ports.ts';
import { compactionPrefix, planName, savepointPrefix } from '../object-names.ts';
import { readRegistry } from './change-registry.ts';
import { findManifest, pendingManifestName } from './find-manifest.ts';
import {
  openSource,
  readAheadBytesMax,
  runSource,
  segmentSource,
  type SourceFiles,
} from './sorted-source.ts';

export interface CompactionOptions {
  /** The prefix of the files: that of the compaction itself, or of the savepoint's own files. */
  readonly into: string;
  /** Drops what C6 allows; only where everything is merged. */
  readonly dropsTombstones: boolean;
  /** How many of the manifest's runs, the youngest, are merged. @default all */
  readonly runs?: number;
  readonly limits?: MergeLimits;
}

export interface MergeLimits {
  /** Sources that are merged at once. */
  readonly sourcesMax: number;
  /** What they may take in memory together: of each the largest block and what is read along with it. */
  readonly memoryBytesMax: number;
  /** Size of the files, bytes before compression. */
  readonly fileBytes: number;
}

const defaultLimits: MergeLimits = {
  sourcesMax: 256,
  memoryBytesMax: 32 * 1024 * 1024,
  fileBytes: 16 * 1024 * 1024,
};

/** Headers that are read at once. */
const requestsMax = 32;

/** Blocks are closed at 256 KB; one more item of the largest size may be in them. */
const usualBlockBytes = 1024 * 1024;

/**
 * Decides what a compaction of a manifest does, and writes it down; where a plan of this work stands, that one counts. The
 * manifest may be one of another job, whose files then are copied (R12).
 *
 * @throws HoldfastError `corrupt` where a file of the manifest is missing or damaged
 */
export async function planCompaction(
  ports: JobPorts,
  pending: PendingWork,
  manifest: Manifest,
  options: CompactionOptions,
): Promise<CompactionPlan> {
  const there = await findPlan(ports, pending.number);
  if (there !== undefined) return there;
  const limits = options.limits ?? defaultLimits;
  const mergedRuns = options.runs ?? manifest.runs.length;
  const drops = options.dropsTombstones && mergedRuns === manifest.runs.length;
  const savepoint = savepointOf(ports.job, pending, options.into);
  if (savepoint !== '' && (await hasObjectBelow(ports.objects, options.into))) {
    // A twin may have planned meanwhile, and begun.
    const twins = await findPlan(ports, pending.number);
    if (twins !== undefined) return twins;
    throw leftover(ports.job, savepoint, options.into);
  }
  const plan: CompactionPlan = {
    ...{ number: pending.number, manifest, mergedRuns, savepoint },
    fileBytes: limits.fileBytes,
    steps: await planSteps(ports, manifest, mergedRuns, limits),
    dropsUpTo: drops ? await findDropRanges(ports, manifest) : [],
    ...(manifest.job === ports.job ? {} : { copiedFrom: manifest.job }),
  };
  const name = planName(ports.job, pending.number);
  if ((await ports.objects.create(name, encodePlan(plan))) === 'created') return plan;
  return readPlan(ports, pending.number);
}

/** The plan of a compaction. */
export async function readPlan(
  ports: Pick<JobPorts, 'objects' | 'job'>,
  number: number,
): Promise<CompactionPlan> {
  const plan = await findPlan(ports, number);
  if (plan !== undefined) return plan;
  throw new HoldfastError(
    'invalid',
    `compaction ${number} of job ${ports.job} has no plan; it is over, or was never planned`,
  );
}

export async function findPlan(
  { objects, job }: Pick<JobPorts, 'objects' | 'job'>,
  number: number,
): Promise<CompactionPlan | undefined> {
  const name = planName(job, number);
  const bytes = await objects.read(name);
  return bytes === undefined ? undefined : decodePlan(bytes, name, { job });
}

function savepointOf(job: string, { kind, label, number }: PendingWork, into: string): string {
  if (into === compactionPrefix(job, number)) return '';
  if (kind === 'savepoint' && into.startsWith(savepointPrefix(job, label))) return label;
  throw new HoldfastError(
    'internal',
    `${kind} ${number} would write run files to ${into}, which is neither its own nor a savepoint's place`,
  );
}

/**
 * What stands in a compaction's place is taken for its own. Compactions have a place for each number; a savepoint's name may have
 * been that of one that was deleted, or came to nothing.
 */
function leftover(job: string, label: string, into: string): HoldfastError {
  return new HoldfastError(
    'conflict',
    `files of an earlier savepoint ${label} of job ${job} still lie in ${into}; choose another name, or wait until they have been collected`,
  );
}

/** A source, and what it takes to merge it. */
interface Candidate {
  readonly source: MergeSource;
  /** Bytes to read, in all. */
  readonly bytes: number;
  /** Bytes in memory while it is merged. */
  readonly memoryBytes: number;
}

async function planSteps(
  ports: JobPorts,
  manifest: Manifest,
  mergedRuns: number,
  limits: MergeLimits,
): Promise<MergeStep[]> {
  const operators = new Set([
    ...manifest.channels.map(({ channel }) => channel.operator),
    ...manifest.runs.flatMap(({ files }) => files.map(({ operator }) => operator)),
  ]);
  const steps: MergeStep[] = [];
  for (const operator of [...operators].sort(compareTexts)) {
    const candidates = [
      ...listRuns(manifest, operator, mergedRuns),
      ...(await listSegments(ports, manifest, operator)),
    ];
    if (candidates.length > 0) addSteps(steps, operator, candidates, limits);
  }
  return steps;
}

/** As long as there are too many, the smallest are merged into one. */
function addSteps(
  steps: MergeStep[],
  operator: string,
  candidates: readonly Candidate[],
  limits: MergeLimits,
): void {
  let rest = sortBySize(candidates);
  for (;;) {
    const some = takeSome(rest, limits);
    const isFinal = some.length === rest.length;
    steps.push({ operator, sources: some.map(({ source }) => source), isFinal });
    if (isFinal) return;
    const made: Candidate = {
      source: { step: steps.length - 1 },
      bytes: some.reduce((total, { bytes }) => total + bytes, 0),
      memoryBytes: usualBlockBytes + readAheadBytesMax,
    };
    rest = sortBySize([...rest.slice(some.length), made]);
  }
}

/** Stable, so that the same candidates always give the same steps. */
function sortBySize(candidates: readonly Candidate[]): Candidate[] {
  return candidates.toSorted((a, b) => a.bytes - b.bytes);
}

function takeSome(sorted: readonly Candidate[], limits: MergeLimits): readonly Candidate[] {
  let memoryBytes = 0;
  const end = sorted.findIndex((candidate, at) => {
    memoryBytes += candidate.memoryBytes;
    // Two at least, whatever they take: else nothing would become less.
    return at >= 2 && (at >= limits.sourcesMax || memoryBytes > limits.memoryBytesMax);
  });
  return end < 0 ? sorted : sorted.slice(0, end);
}

function listRuns(manifest: Manifest, operator: string, mergedRuns: number): Candidate[] {
  const first = manifest.runs.length - mergedRuns;
  return manifest.runs.flatMap(({ files }, run) => {
    const source = runSource(files, operator);
    if (run < first || source.length === 0) return [];
    const memoryBytes = usualBlockBytes + readAheadBytesMax;
    return [{ source: { run }, bytes: bytesOf(source), memoryBytes }];
  });
}

async function listSegments(
  { objects }: JobPorts,
  manifest: Manifest,
  operator: string,
): Promise<Candidate[]> {
  const places = manifest.channels.flatMap(({ channel, segments }, at) =>
    channel.operator === operator
      ? segments.map((_, segment): readonly [number, number] => [at, segment])
      : [],
  );
  const candidates = await inParallel(places, requestsMax, async (segment) => {
    const files = segmentSource(manifest, segment);
    const { blocks, entries } = await openSource(objects, files[0]!);
    const bytes = bytesOf(files);
    const rawBytes = blocks.reduce((max, block) => Math.max(max, block.rawBytes), 0);
    const memoryBytes = rawBytes + Math.min(bytes, readAheadBytesMax);
    return { source: { segment }, bytes, memoryBytes, entries };
  });
  // A generation begins with segments that hold nothing.
  return candidates.filter(({ entries }) => entries > 0);
}

function bytesOf(files: SourceFiles): number {
  return files.reduce((total, { bytes }) => total + bytes, 0);
}

/**
 * C6: a tombstone goes where every cut that may be loaded together with these files is at or past it. Those are the cut itself,
 * checkpoints of this generation that are retained, and what is pending; where one of those is not written yet, its cut is not
 * known, and all tombstones stay. Savepoints and undo points list files of their own, made before these.
 */
async function findDropRanges(ports: JobPorts, manifest: Manifest): Promise<DropRange[]> {
  const { complete, pending } = await readRegistry(ports);
  const cuts: (readonly ChannelCut[])[] = [manifest.channels];
  for (const { kind, generation, object } of complete) {
    if (kind !== 'checkpoint' || generation !== manifest.generation) continue;
    const retained = await findManifest(ports, object);
    if (retained !== undefined) cuts.push(retained.channels);
  }
  for (const work of pending) {
    const name = pendingManifestName(ports.job, work);
    if (name === undefined || work.number === manifest.number) continue;
    const written = await findManifest(ports, name);
    if (written === undefined) return [];
    cuts.push(written.channels);
  }
  const operators = new Set(manifest.channels.map(({ channel }) => channel.operator));
  return [...operators].sort(compareTexts).flatMap((operator) =>
    earliestRanges(cuts.map((channels) => cutRanges(channels, operator))).map((range) => ({
      operator,
      ...range,
    })),
  );
}
