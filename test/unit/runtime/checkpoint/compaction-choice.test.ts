import { describe, expect, it } from 'vitest';
import type { Manifest } from '../../../../shared/core/manifest.ts';
import {
  chooseCompaction,
  defaultMergeThresholds,
} from '../../../../shared/runtime/checkpoint/choose-compaction.ts';

const { segmentsMax, segmentBytesMax } = defaultMergeThresholds;

type Content = Pick<Manifest, 'channels' | 'runs'>;

const content = (segments: readonly number[], runs: readonly number[]): Content =>
  ({
    channels: [{ segments: segments.map((bytes, at) => ({ number: at + 1, bytes })) }],
    runs: runs.map((bytes) => ({ files: [{ bytes }] })),
  }) as unknown as Content;

const many = Array.from({ length: segmentsMax }, () => 1000);

describe('the choice of a compaction', () => {
  it('leaves few and small segments alone', () => {
    expect(chooseCompaction(content(many.slice(1), [1, 1, 1]))).toEqual({ kind: 'none' });
    expect(chooseCompaction(content([], []))).toEqual({ kind: 'none' });
  });

  it('merges segments that are many, or large', () => {
    expect(chooseCompaction(content(many, [10_000_000]))).toEqual({ kind: 'segments', runs: 0 });
    expect(chooseCompaction(content([segmentBytesMax], [1e12]))).toMatchObject({ runs: 0 });
  });

  it('merges the youngest runs with them that are not much larger, and stops at the first that is', () => {
    const choice = chooseCompaction(content(many, [10_000_000, 400, 1_300_000, 400_000]));
    expect(choice).toEqual({ kind: 'segments', runs: 3 });
  });

  it('merges everything once the youngest are half of the oldest', () => {
    expect(chooseCompaction(content(many, [512_000]))).toEqual({ kind: 'everything', runs: 1 });
    expect(chooseCompaction(content(many, []))).toEqual({ kind: 'everything', runs: 0 });
  });

  it('writes each byte a few times however large the state gets, and keeps few runs', () => {
    let runs: number[] = [];
    let written = 0;
    let merged = 0;
    for (let round = 0; round < 4000; round += 1) {
      const choice = chooseCompaction(content([segmentBytesMax], runs));
      if (choice.kind === 'none') throw new Error('nothing was chosen');
      const rest = runs.slice(0, runs.length - choice.runs);
      const bytes = runs.slice(rest.length).reduce((sum, run) => sum + run, segmentBytesMax);
      runs = [...rest, bytes];
      merged += segmentBytesMax;
      written += bytes;
      expect(runs.length).toBeLessThanOrEqual(12);
    }
    expect(written / merged).toBeLessThan(Math.log2(4000) + 1);
  });
});
