import { describe, expect, it } from 'vitest';
import {
  completeManifest,
  registerPending,
  writeManifest,
} from '../../../../shared/runtime/checkpoint/take-manifest.ts';
import { describeOperator } from '../../../../shared/runtime/describe-operator.ts';
import { firstShard, keyGroups } from '../job-fixture.ts';
import { createRestorableJob, type RestorableJob } from '../restore/restorable-job.ts';

/** Calls of a port by the names of its methods. */
const counting = <Port extends object>(port: Port, counts: Map<string, number>): Port =>
  new Proxy(port, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): unknown => {
        counts.set(String(name), (counts.get(String(name)) ?? 0) + 1);
        return Reflect.apply(member, target, args);
      };
    },
  });

const checkpoint = async ({ job, ports }: RestorableJob) => {
  const counts = new Map<string, number>();
  const counted = {
    ...ports,
    control: counting(ports.control, counts),
    objects: counting(ports.objects, counts),
  };
  const wanted = { kind: 'checkpoint', generation: 1, label: '', timeoutMs: 60_000 } as const;
  const pending = await registerPending(counted, wanted);
  const manifest = await writeManifest(counted, pending, {
    maxParallelism: keyGroups,
    operators: [describeOperator(job.operator)],
    note: '',
    tags: {},
  });
  await completeManifest(counted, pending, manifest);
  return { manifest, counts: Object.fromEntries([...counts].sort()) };
};

const putAll = (world: RestorableJob, keys: number, stateCharacters: number): void => {
  for (let key = 0; key < keys; key += 1) {
    world.job.put(`user-${key}`, { amount: 1, stateCharacters });
  }
};

describe('a checkpoint', () => {
  it('takes the same requests for a state that is a hundred times larger', async () => {
    const costs = [];
    for (const stateCharacters of [10, 1000]) {
      const world = await createRestorableJob();
      putAll(world, 100, stateCharacters);
      await world.deliver(firstShard);
      await checkpoint(world);
      putAll(world, 100, stateCharacters);
      await world.deliver(firstShard);
      const { counts, manifest } = await checkpoint(world);
      const stored = world.job.state.rows().reduce((sum, { item }) => sum + item.states!.length, 0);
      costs.push({ counts, segments: manifest.channels[0]!.segments.length, stored });
    }
    const [small, large] = costs as [(typeof costs)[0], (typeof costs)[0]];
    expect(large.stored).toBeGreaterThan(30 * small.stored);
    expect(large.counts).toEqual(small.counts);
    expect(large.segments).toBe(small.segments);
  });

  it('uploads next to nothing where a hundredth of the keys was touched', async () => {
    const world = await createRestorableJob();
    const keys = 5000;
    putAll(world, keys, 300);
    await world.deliver(firstShard);
    const { manifest: whole } = await checkpoint(world);
    putAll(world, keys / 100, 1);
    await world.deliver(firstShard);
    const { manifest } = await checkpoint(world);
    expect(manifest.newBytes).toBeGreaterThan(0);
    expect(manifest.newBytes).toBeLessThanOrEqual(0.02 * whole.totalBytes);
    expect(manifest.totalBytes).toBe(whole.totalBytes + manifest.newBytes);
  });

  it('reads one header for every 64 segments that are new', async () => {
    const world = await createRestorableJob({ settings: { unitRecordsMax: 1 } });
    const reads = [];
    for (const units of [1, 1, 64, 200]) {
      putAll(world, units, 1);
      await world.deliver(firstShard);
      const { counts, manifest } = await checkpoint(world);
      const names = manifest.channels[0]!.segments.map(({ number }) => number);
      expect(names).toEqual(names.map((_, at) => at + 1));
      reads.push(counts['readStart'] ?? 0);
    }
    expect(reads).toEqual([0, 0, 1, 4]);
  });
});
