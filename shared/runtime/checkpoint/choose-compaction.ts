import type { Manifest, SortedRun } from '../../core/manifest.ts';

/** When segments are worth merging. */
export interface MergeThresholds {
  /** Once there are so many: a restore reads them all, and a manifest names them all. */
  readonly segmentsMax: number;
  /** Or once they have so many bytes. */
  readonly segmentBytesMax: number;
}

export const defaultMergeThresholds: MergeThresholds = {
  segmentsMax: 256,
  segmentBytesMax: 64 * 1024 * 1024,
};

/** `runs`: how many of the manifest's runs, the youngest, are merged with all of its segments. */
export type CompactionChoice =
  | { readonly kind: 'none' }
  | { readonly kind: 'segments'; readonly runs: number }
  | { readonly kind: 'everything'; readonly runs: number };

/**
 * Chooses what is worth merging: nothing while segments are few and small; else all segments, and with them every run, from the
 * youngest on, that is at most twice as large as what is merged already.
 *
 * So each run that stays is more than twice as large as all that is merged behind it, and there are no more runs than the
 * largest holds doublings of the smallest: 12 for a state of 256 GB in steps of 64 MB. Merging a run of r bytes costs writing it
 * again, and happens only when r/2 bytes that are younger have come together; what has been merged lies in a run of at least 3/2
 * the size. Each byte is therefore written O(log n) times, and the oldest run, where deleted keys take room, is rewritten
 * whenever as much as half of it has come.
 */
export function chooseCompaction(
  { channels, runs }: Pick<Manifest, 'channels' | 'runs'>,
  { segmentsMax, segmentBytesMax }: MergeThresholds = defaultMergeThresholds,
): CompactionChoice {
  const segments = channels.flatMap((cut) => cut.segments);
  const segmentBytes = segments.reduce((total, { bytes }) => total + bytes, 0);
  if (segments.length < segmentsMax && segmentBytes < segmentBytesMax) return { kind: 'none' };
  let merged = segmentBytes;
  let count = 0;
  for (const run of runs.toReversed()) {
    const bytes = bytesOf(run);
    if (bytes > 2 * merged) break;
    merged += bytes;
    count += 1;
  }
  return { kind: count === runs.length ? 'everything' : 'segments', runs: count };
}

function bytesOf({ files }: SortedRun): number {
  return files.reduce((total, { bytes }) => total + bytes, 0);
}
