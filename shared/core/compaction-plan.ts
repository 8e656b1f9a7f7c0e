import * as z from 'zod';
import { describeThrown, HoldfastError } from './errors.ts';
import type { KeyHash } from './key-group.ts';
import type { Manifest } from './manifest.ts';
import { decodeManifest, encodeManifest, type ExpectedOwner } from './manifest-codec.ts';
import { formatPosition, parsePosition, type Position } from './position.ts';
import { decodeDocument, encodeDocument, type DocumentFormat } from './stored-document.ts';

/*
 * What a compaction does, decided once and written down before the first of its files (stored-document.ts). From it and the
 * files that it names every compactor writes the same, whenever it begins and wherever another one has ended.
 */

/** What is merged: a segment or a run of the manifest, or what an earlier step has made. */
export type MergeSource =
  | { readonly segment: readonly [channel: number, segment: number] }
  | { readonly run: number }
  | { readonly step: number };

/** Merges the files of one operator into one run. */
export interface MergeStep {
  readonly operator: string;
  readonly sources: readonly MergeSource[];
  /** Its files are part of the result; those of other steps only feed later ones. */
  readonly isFinal: boolean;
}

/** Up to where tombstones of one operator are dropped, range by range (C6). */
export interface DropRange {
  readonly operator: string;
  /** To the `from` behind it. */
  readonly from: KeyHash;
  readonly position: Position | undefined;
}

export interface CompactionPlan {
  /** That of its pending work. */
  readonly number: number;
  /** The cut that is merged, whole: its own object may go meanwhile. */
  readonly manifest: Manifest;
  /** So many of the manifest's runs, the youngest, are merged; those before them stay as they are. */
  readonly mergedRuns: number;
  /** The savepoint whose own files the result is; empty for a compaction. */
  readonly savepoint: string;
  /** Files end behind the entry with which they reach this size, bytes before compression. */
  readonly fileBytes: number;
  /** In order; all steps of an operator lie together, the final one last. */
  readonly steps: readonly MergeStep[];
  /** Empty where tombstones are kept. */
  readonly dropsUpTo: readonly DropRange[];
  /** R12: the job whose manifest and files these are, where it is another one. */
  readonly copiedFrom?: string | undefined;
}

const count = z.int().nonnegative();

const source = z.union([
  z.strictObject({ segment: z.tuple([count, count]).readonly() }),
  z.strictObject({ run: count }),
  z.strictObject({ step: count }),
]);

const position = z.string().transform((stored, context): Position => {
  try {
    return parsePosition(stored);
  } catch (error) {
    context.addIssue(describeThrown(error));
    return z.NEVER;
  }
});

const body = z.strictObject({
  number: count,
  savepoint: z.string(),
  fileBytes: count,
  mergedRuns: count,
  steps: z
    .array(
      z.strictObject({
        operator: z.string(),
        sources: z.array(source).readonly(),
        isFinal: z.boolean(),
      }),
    )
    .readonly(),
  dropsUpTo: z
    .array(
      z.strictObject({ operator: z.string(), from: z.string(), position: position.optional() }),
    )
    .readonly(),
  copiedFrom: z.string().optional(),
  /** A document within the document, with its own version and checksum. */
  manifest: z.record(z.string(), z.unknown()),
});

const format: DocumentFormat<z.output<typeof body>> = {
  what: 'compaction plan',
  format: 'holdfast-compaction',
  version: 1,
  remedy: 'drop the compaction, its manifest is not affected',
  read: (stored) => {
    const read = body.safeParse(stored);
    if (read.success) return { body: read.data };
    const issue = read.error.issues[0]!;
    return { problem: `${issue.path.join('.')}: ${issue.message}` };
  },
};

/** Writes a plan. The same plan gives the same bytes. */
export function encodePlan(plan: CompactionPlan): Uint8Array {
  const manifest = new TextDecoder().decode(encodeManifest(plan.manifest));
  const stored: z.input<typeof body> = {
    number: plan.number,
    savepoint: plan.savepoint,
    fileBytes: plan.fileBytes,
    mergedRuns: plan.mergedRuns,
    steps: plan.steps.map(({ operator, sources, isFinal }) => ({ operator, sources, isFinal })),
    dropsUpTo: plan.dropsUpTo.map(({ operator, from, position: upTo }) => ({
      operator,
      from,
      ...(upTo === undefined ? {} : { position: formatPosition(upTo) }),
    })),
    ...(plan.copiedFrom === undefined ? {} : { copiedFrom: plan.copiedFrom }),
    manifest: JSON.parse(manifest) as Record<string, unknown>,
  };
  return encodeDocument(format, stored);
}

/**
 * Reads a plan and checks everything.
 *
 * @throws HoldfastError `corrupt` where it is not what was written, `invalid` where it is newer than this code or of
 * another job
 */
export function decodePlan(
  bytes: Uint8Array,
  name: string,
  expected: ExpectedOwner,
): CompactionPlan {
  const stored = decodeDocument(format, bytes, name);
  const text = JSON.stringify(stored.manifest);
  const owner = stored.copiedFrom === undefined ? expected : { job: stored.copiedFrom };
  const manifest = decodeManifest(new TextEncoder().encode(text), name, owner);
  const plan: CompactionPlan = {
    ...stored,
    manifest,
    dropsUpTo: stored.dropsUpTo.map((range) => ({ ...range, position: range.position })),
  };
  assertOrdered(plan, name);
  return plan;
}

/** Sources exist, and those that are made are made before. */
function assertOrdered({ manifest, steps }: CompactionPlan, name: string): void {
  for (const [at, { sources }] of steps.entries()) {
    for (const one of sources) {
      const isThere =
        'segment' in one
          ? manifest.channels[one.segment[0]]?.segments[one.segment[1]] !== undefined
          : 'run' in one
            ? manifest.runs[one.run] !== undefined
            : one.step < at;
      if (isThere) continue;
      throw new HoldfastError(
        'corrupt',
        `${format.what} ${name} is damaged: step ${at} merges ${JSON.stringify(one)}, which there is not; ${format.remedy}`,
      );
    }
  }
}
