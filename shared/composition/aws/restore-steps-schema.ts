import * as z from 'zod';
import { count, holdChoice, text } from './workflow-step.ts';

/*
 * What the steps of restores and drills hand to each other. Every field is always there: a path that leads nowhere ends an
 * execution, and no Catch can help.
 */

/** Restores and executions are named alike: letters, digits, `-` and `_`. */
const restoreName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,79}$/, 'up to 80 letters, digits, ".", "_" and "-"');

/** Objects that a list of some names. */
export const examplesMax = 20;

/** What somebody asks for. */
export const restoreRequest = z.strictObject({
  /** Object name of the manifest. */
  manifest: text,
  /** One name is one restore: whoever starts it again goes on where it ended. @default the execution's name */
  restore: restoreName.optional(),
  allowNonRestoredState: z.boolean().default(false),
  acceptsGaps: z.boolean().default(false),
  areTablesLost: z.boolean().default(false),
  /** What is missing or damaged in the job's bucket is read from its backup. */
  fromBackup: z.boolean().default(false),
  /** R13: everything up to the comparison, in a number that is burnt. */
  dryRun: z.boolean().default(false),
  /** R12: the manifest is one of the job that this one is deployed as a clone of. */
  clones: z.boolean().default(false),
});

export const restoreOrder = z.strictObject({
  restore: restoreName,
  manifest: text,
  allowNonRestoredState: z.boolean(),
  acceptsGaps: z.boolean(),
  areTablesLost: z.boolean(),
  fromBackup: z.boolean(),
  dryRun: z.boolean(),
  /** Of a clone alone: the manifest of the cloned job. `manifest` is it, too, until it is copied. */
  copyOf: text.optional(),
});

export const copy = z.strictObject({
  /** Of the compaction that makes it; 0 where it stands already. */
  number: count,
  isDone: z.boolean(),
  doneBytes: count,
  totalBytes: count,
  rounds: count,
});

/** Some objects: how many, and the first of them by name. */
const someObjects = z.strictObject({ objects: count, examples: z.array(text).max(examplesMax) });

/** How far the copies of a manifest's objects have been looked at. */
export const copies = z.strictObject({
  isDone: z.boolean(),
  /** The object from which to go on. */
  next: count,
  /** Those that were looked at. */
  objects: count,
  /** Those of which the backup alone has a sound copy. */
  fellBack: someObjects,
  /** Those of which nobody has. */
  lost: someObjects,
  rounds: count,
});

export const base = z.strictObject({
  /** Of the compaction that makes it. */
  number: count,
  /** Else the manifest's own files are loaded, and read once before. */
  mustMerge: z.boolean(),
  /** Of those: the next one to be read. */
  nextFile: count,
  isDone: z.boolean(),
  /** Empty until it is done. */
  object: z.string(),
  doneBytes: count,
  totalBytes: count,
  rounds: count,
});

export const loadPart = z.strictObject({
  /** Loads the progress of the channels instead of files. */
  isOfChannels: z.boolean(),
  /** Files of the base, from `from` up to and without `to`. */
  from: count,
  to: count,
  isDone: z.boolean(),
  keys: count,
  tombstones: count,
  bytes: count,
  endedAtMs: count,
  rounds: count,
});

export const comparePart = z.strictObject({
  operator: text,
  /** Key groups, both included. */
  from: count,
  to: count,
  isDone: z.boolean(),
  keys: count,
  tombstones: count,
  bytes: count,
  differing: count,
  examples: z.array(z.string().max(300)).max(3),
  endedAtMs: count,
  rounds: count,
});

/** A generation that is being made. */
export const made = z.strictObject({
  /** 0 before it is reserved. */
  generation: count,
  startedAtMs: count,
  loads: z.array(loadPart),
  compares: z.array(comparePart),
});

export const prepared = z.strictObject({
  order: restoreOrder,
  /** How far an earlier execution of this restore came. */
  stage: z.enum(['begin', 'flipped', 'released']),
  hold: holdChoice,
  made,
  undo: z.strictObject({ object: z.string() }),
});

export const replayPart = z.strictObject({
  /** Channels are dealt out by the hash of their names: part `index` of `parts`. */
  index: count,
  parts: z.int().positive(),
  isDone: z.boolean(),
  /** Channels that have reached their targets, while others have not. */
  reached: z.array(text),
  records: count,
  visits: count,
  rounds: count,
});

export const segmentReference = z.strictObject({
  number: count,
  attempt: text,
  bytes: count,
  crc: count,
});

export const outputPart = z.strictObject({
  /** Stretches of segments (R10), or the views of a sink whose table was lost (R11). */
  kind: z.enum(['stretches', 'view']),
  from: count,
  to: count,
  /** The segment of stretch `from` with which to go on; null for its newest. */
  segment: segmentReference.nullable(),
  operator: z.string(),
  sink: z.string(),
  isDone: z.boolean(),
  rounds: count,
});

export const sweepPart = z.strictObject({
  operator: text,
  sink: text,
  isDone: z.boolean(),
  /** A whole pass has found no void row. */
  isClean: z.boolean(),
  /** How far the present pass is: the mark of the last row, empty at its beginning, and void rows so far. */
  place: z.strictObject({ mark: z.string(), voids: count }),
  passes: count,
  removed: count,
  rewritten: count,
  rounds: count,
});

export const deletion = z.strictObject({
  isDone: z.boolean(),
  /** From where to go on; empty at the start. */
  operator: z.string(),
  group: count,
  items: count,
  rounds: count,
});
