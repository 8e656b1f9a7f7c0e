import * as z from 'zod';
import { describeThrown, HoldfastError } from './errors.ts';
import type { HashRange } from './key-group.ts';
import type { Base, ChannelCut, Manifest, OperatorContract, SortedRun } from './manifest.ts';
import { compareTexts, formatPosition, parsePosition, type Position } from './position.ts';
import type { Progress, SegmentReference } from './progress.ts';
import { decodeDocument, encodeDocument, type DocumentFormat } from './stored-document.ts';
import type { Watermarks } from './watermark.ts';

/*
 * Manifests and bases as they are stored (stored-document.ts). What is undefined is left out, positions are texts as
 * everywhere, wall-clock times are ISO 8601, a run is the list of its files. Fields that are unknown are refused: whatever
 * is added to a format raises its version.
 *
 * The schemas read: what they give is what the rest of the code works with. The functions `store…` are their inverses.
 */

const text = z.string();
const count = z.int().nonnegative();
const crc = count.max(2 ** 32 - 1);

const position = text.transform((stored, context): Position => {
  try {
    return parsePosition(stored);
  } catch (error) {
    context.addIssue(describeThrown(error));
    return z.NEVER;
  }
});

/** ms since the epoch, stored as 2025-01-31T12:00:00.000Z; no other spelling, so that nothing is lost on the way. */
const time = text.transform((stored, context): number => {
  const ms = Date.parse(stored);
  if (Number.isInteger(ms) && storeTime(ms) === stored) return ms;
  context.addIssue(`expected a time like 2025-01-31T12:00:00.000Z, got ${JSON.stringify(stored)}`);
  return z.NEVER;
});

const range = z
  .tuple([text, text])
  .readonly()
  .transform(([from, to]) => ({ from, to }));

const times = z
  .strictObject({ event: z.int().optional(), arrival: z.int().optional() })
  .transform(({ event, arrival }): Watermarks => ({ event, arrival }));

const reference = z.strictObject({ number: count, attempt: text, bytes: count, crc });

const firing = z.union([
  z.literal('none'),
  z.strictObject({ keyHash: text, key: text, time: z.int(), name: text }),
]);

const progress = z
  .strictObject({
    generation: count,
    version: count,
    position: position.optional(),
    attempt: text,
    head: reference.optional(),
    aheadMax: position.optional(),
    isFinished: z.boolean(),
    range,
    parentIds: list(text),
    committedAt: time,
    checkedAt: time,
    watermarks: times,
    floors: list(z.strictObject({ range, watermarks: times })),
    firing: firing.optional(),
    earliest: times,
    timeRules: text.optional(),
    fence: text.optional(),
  })
  .transform(({ committedAt, checkedAt, ...stored }): Progress => ({
    ...stored,
    position: stored.position,
    head: stored.head,
    aheadMax: stored.aheadMax,
    committedAtMs: committedAt,
    checkedAtMs: checkedAt,
    firing: stored.firing,
    timeRules: stored.timeRules,
    fence: stored.fence,
  }));

const channel = z
  .strictObject({
    operator: text,
    stream: text,
    createdAt: time,
    shard: text,
    progress,
    ahead: list(z.strictObject({ key: text, position })),
    segments: list(reference),
  })
  .transform(({ operator, stream, createdAt, shard, ...cut }): ChannelCut => ({
    channel: { operator, stream: { name: stream, createdAtMs: createdAt }, shardId: shard },
    ...cut,
  }));

const file = z.strictObject({
  name: text,
  operator: text,
  bytes: count,
  crc,
  groups: z.tuple([count, count]).readonly(),
  keys: count,
  tombstones: count,
});

const run = list(file).transform((files): SortedRun => ({ files }));

const operator = z.strictObject({
  id: text,
  states: list(
    z.strictObject({
      name: text,
      kind: z.enum(['value', 'list', 'map', 'aggregating']),
      version: count,
    }),
  ),
  sinks: list(z.strictObject({ name: text, kind: z.enum(['append', 'upsert']) })),
  timeRules: text,
});

const tagRule =
  'names of tags are 1 to 128 of letters, digits, ".", "_", ":", "/" and "-", a letter first';
const tags = z.record(text.regex(/^[A-Za-z][A-Za-z0-9._:/-]{0,127}$/, tagRule), text).readonly();

const manifest = z
  .strictObject({
    job: text,
    kind: z.enum(['checkpoint', 'savepoint', 'undo']),
    generation: count,
    number: count,
    label: text,
    note: text,
    tags,
    triggeredAt: time,
    readAt: time,
    writtenAt: time,
    isExact: z.boolean(),
    newBytes: count,
    totalBytes: count,
    keysInRuns: count,
    maxParallelism: count,
    operators: list(operator),
    channels: list(channel),
    runs: list(run),
  })
  .transform(({ triggeredAt, readAt, writtenAt, ...stored }): Manifest => ({
    ...stored,
    triggeredAtMs: triggeredAt,
    readAtMs: readAt,
    writtenAtMs: writtenAt,
  }));

const base = z
  .strictObject({
    job: text,
    generation: count,
    compacted: list(z.strictObject({ channel: text, number: count })),
    runs: list(run),
  })
  .transform((stored): Base => stored);

const manifestFormat: DocumentFormat<Manifest> = {
  what: 'manifest',
  format: 'holdfast-manifest',
  version: 1,
  remedy: 'restore from another one',
  read: (body) => readBody(manifest, body),
};

const baseFormat: DocumentFormat<Base> = {
  what: 'base',
  format: 'holdfast-base',
  version: 1,
  remedy: 'restore from a checkpoint, which names its files itself',
  read: (body) => readBody(base, body),
};

/** Whose a document must be. */
export interface ExpectedOwner {
  readonly job: string;
}

/**
 * Writes a manifest. The same manifest gives the same bytes.
 *
 * @throws HoldfastError `invalid` where something in it could not be read back
 */
export function encodeManifest(given: Manifest): Uint8Array {
  const stored: z.input<typeof manifest> = {
    job: given.job,
    kind: given.kind,
    generation: given.generation,
    number: given.number,
    label: given.label,
    note: given.note,
    tags: Object.fromEntries(Object.entries(given.tags).sort(([a], [b]) => compareTexts(a, b))),
    triggeredAt: storeTime(given.triggeredAtMs),
    readAt: storeTime(given.readAtMs),
    writtenAt: storeTime(given.writtenAtMs),
    isExact: given.isExact,
    newBytes: given.newBytes,
    totalBytes: given.totalBytes,
    keysInRuns: given.keysInRuns,
    maxParallelism: given.maxParallelism,
    operators: given.operators.map(storeOperator),
    channels: given.channels.map(storeChannel),
    runs: given.runs.map(storeRun),
  };
  return encodeDocument(manifestFormat, stored);
}

/**
 * Reads a manifest and checks everything.
 *
 * @throws HoldfastError `corrupt` where it is not what was written, `invalid` where it is newer than this code or of
 * another job
 */
export function decodeManifest(bytes: Uint8Array, name: string, expected: ExpectedOwner): Manifest {
  return ownedBy(expected, 'manifest', name, decodeDocument(manifestFormat, bytes, name));
}

/** Writes a base, like {@link encodeManifest}. */
export function encodeBase(given: Base): Uint8Array {
  const stored: z.input<typeof base> = {
    job: given.job,
    generation: given.generation,
    compacted: given.compacted.map(({ channel: id, number }) => ({ channel: id, number })),
    runs: given.runs.map(storeRun),
  };
  return encodeDocument(baseFormat, stored);
}

/** Reads a base, like {@link decodeManifest}. */
export function decodeBase(bytes: Uint8Array, name: string, expected: ExpectedOwner): Base {
  return ownedBy(expected, 'base', name, decodeDocument(baseFormat, bytes, name));
}

function ownedBy<Document extends { readonly job: string }>(
  { job }: ExpectedOwner,
  what: string,
  name: string,
  document: Document,
): Document {
  if (document.job === job) return document;
  throw new HoldfastError(
    'invalid',
    `${what} ${name} is one of job ${document.job}, expected ${job}; name one of job ${job}`,
  );
}

function storeOperator({
  id,
  states,
  sinks,
  timeRules,
}: OperatorContract): z.input<typeof operator> {
  return {
    id,
    states: states.map(({ name, kind, version }) => ({ name, kind, version })),
    sinks: sinks.map(({ name, kind }) => ({ name, kind })),
    timeRules,
  };
}

function storeChannel(cut: ChannelCut): z.input<typeof channel> {
  const { operator: id, stream, shardId } = cut.channel;
  return {
    operator: id,
    stream: stream.name,
    createdAt: storeTime(stream.createdAtMs),
    shard: shardId,
    progress: storeProgress(cut.progress),
    ahead: cut.ahead.map((key) => ({ key: key.key, position: formatPosition(key.position) })),
    segments: cut.segments.map(storeReference),
  };
}

function storeProgress(given: Progress): z.input<typeof progress> {
  return {
    generation: given.generation,
    version: given.version,
    position: storeIfAny(formatPosition, given.position),
    attempt: given.attempt,
    head: storeIfAny(storeReference, given.head),
    aheadMax: storeIfAny(formatPosition, given.aheadMax),
    isFinished: given.isFinished,
    range: storeRange(given.range),
    parentIds: given.parentIds,
    committedAt: storeTime(given.committedAtMs),
    checkedAt: storeTime(given.checkedAtMs),
    watermarks: storeTimes(given.watermarks),
    floors: given.floors.map((floor) => ({
      range: storeRange(floor.range),
      watermarks: storeTimes(floor.watermarks),
    })),
    firing: storeFiring(given.firing),
    earliest: storeTimes(given.earliest),
    timeRules: given.timeRules,
    fence: given.fence,
  };
}

function storeReference(given: SegmentReference): z.input<typeof reference> {
  return { number: given.number, attempt: given.attempt, bytes: given.bytes, crc: given.crc };
}

function storeRun({ files }: SortedRun): z.input<typeof run> {
  return files.map(({ name, bytes, groups, keys, tombstones, ...given }) => ({
    name,
    operator: given.operator,
    bytes,
    crc: given.crc,
    groups,
    keys,
    tombstones,
  }));
}

function storeFiring(given: Progress['firing']): z.input<typeof firing> | undefined {
  if (given === undefined || given === 'none') return given;
  return { keyHash: given.keyHash, key: given.key, time: given.time, name: given.name };
}

function storeRange({ from, to }: HashRange): z.input<typeof range> {
  return [from, to];
}

function storeTimes({ event, arrival }: Watermarks): z.input<typeof times> {
  return { event, arrival };
}

/** What no date can hold is left as it is: reading refuses it. */
function storeTime(ms: number): string {
  const date = new Date(ms);
  return date.getTime() === ms ? date.toISOString() : String(ms);
}

function storeIfAny<T, S>(store: (value: T) => S, value: T | undefined): S | undefined {
  return value === undefined ? undefined : store(value);
}

function list<Element extends z.ZodType>(element: Element): z.ZodReadonly<z.ZodArray<Element>> {
  return z.array(element).readonly();
}

function readBody<Schema extends z.ZodType>(
  schema: Schema,
  body: unknown,
): { readonly body: z.output<Schema> } | { readonly problem: string } {
  const read = schema.safeParse(body);
  if (read.success) return { body: read.data };
  const issue = read.error.issues[0]!;
  return { problem: `${issue.path.join('.') || 'its body'}: ${issue.message}` };
}
