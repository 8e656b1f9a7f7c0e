import { describe, expect, it } from 'vitest';
import {
  largeManifestName,
  writeLargeState,
  type LargeStateShape,
} from '../../bench/state/large-state.ts';
import { forget, stateSteps } from '../../bench/state/state-steps.ts';
import { createMemoryObjectStore } from '../../shared/adapters/memory/memory-object-store.ts';
import { decodeManifest } from '../../shared/core/manifest-codec.ts';

const shape: LargeStateShape = {
  keys: 500,
  stateBytes: 100,
  runShares: [1, 0.25],
  segments: 3,
  keysOfSegment: 10,
};

const write = async () => {
  const objects = createMemoryObjectStore();
  return { objects, written: await writeLargeState(objects, shape) };
};

describe('a large state', () => {
  it('is the same for the same shape, to the byte', async () => {
    const [first, second] = [await write(), await write()];
    expect(second.objects.objects()).toEqual(first.objects.objects());
    expect(second.written).toEqual(first.written);
  });

  it('lists all keys in its oldest run, and has the rest again', async () => {
    const { objects, written } = await write();
    const bytes = (await objects.read(largeManifestName))!;
    const { runs, channels } = decodeManifest(bytes, largeManifestName, { job: 'bench' });
    const keysOf = (run: number) => runs[run]!.files.reduce((sum, { keys }) => sum + keys, 0);
    expect(keysOf(0)).toBe(shape.keys);
    expect(keysOf(1)).toBeLessThan(0.4 * shape.keys);
    expect(channels.map(({ segments }) => segments.length)).toEqual([3, 3, 3, 3]);
    expect(written.entries).toBeGreaterThan(keysOf(0) + keysOf(1));
    expect(written.stateBytes).toBeGreaterThan(shape.keys * shape.stateBytes);
    expect(written.entryBytes).toBeGreaterThan(written.stateBytes);
  });

  it('is merged, verified and loaded with every key once, and again after it was forgotten', async () => {
    const { objects } = await write();
    const before = [...objects.objects().keys()];
    for (let round = 0; round < 2; round += 1) {
      for (const step of ['compact', 'verify', 'load'] as const) {
        expect(await stateSteps[step](objects)).toMatchObject({ keys: shape.keys });
      }
      await forget(objects);
      expect([...objects.objects().keys()]).toEqual(before);
    }
  });
});
