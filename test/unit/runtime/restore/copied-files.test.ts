import { expect, it } from 'vitest';
import { decodePlan, encodePlan } from '../../../../shared/core/compaction-plan.ts';
import { planCompaction } from '../../../../shared/runtime/checkpoint/plan-compaction.ts';
import { runCompaction } from '../../../../shared/runtime/checkpoint/run-compaction.ts';
import { registerPending } from '../../../../shared/runtime/checkpoint/take-manifest.ts';
import { noDeadline } from '../../../../shared/runtime/deadline.ts';
import { compactionPrefix, planName } from '../../../../shared/runtime/object-names.ts';
import { readBesides } from '../../../../shared/runtime/restore/cloned-objects.ts';
import { readStateFile } from '../../../../shared/runtime/restore/load.ts';
import { firstShard } from '../job-fixture.ts';
import { deployClone } from './clone-world.ts';
import { createRestorableJob } from './restorable-job.ts';

it('files of another job are merged by its generations, in however many steps, and are of the first then', async () => {
  const source = await createRestorableJob();
  const goOn = async (users: number): Promise<void> => {
    for (let user = 1; user <= users; user += 1) source.job.put(`user-${user}`, { amount: user });
    await source.deliver(firstShard);
  };
  await goOn(60);
  await source.restore((await source.checkpoint()).object);
  await goOn(60);
  await source.restore((await source.checkpoint()).object);
  // Small segments of generation 3, which are merged before the large run with entries of generation 2.
  for (let units = 1; units <= 10; units += 1) await goOn(2);
  const { manifest } = await source.checkpoint();
  expect(manifest).toMatchObject({ generation: 3 });

  const twin = await deployClone(source);
  const ports = { ...twin.ports, objects: readBesides(twin.ports.objects, twin.ports.cloned!) };
  const work = await registerPending(ports, {
    ...{ kind: 'compaction', generation: 1, label: 'copy', timeoutMs: 1000 },
  });
  const limits = { sourcesMax: 2, memoryBytesMax: 64 * 1024 * 1024, fileBytes: 1500 };
  const into = compactionPrefix('twin', work.number);
  const plan = await planCompaction(ports, work, manifest, {
    ...{ into, dropsTombstones: false, limits },
  });
  expect(plan.steps.length).toBeGreaterThan(3);
  expect(plan).toMatchObject({ copiedFrom: 'demo' });
  const name = planName('twin', work.number);
  expect(decodePlan(encodePlan(plan), name, { job: 'twin' })).toEqual(plan);
  expect(() =>
    decodePlan(encodePlan({ ...plan, copiedFrom: undefined }), name, { job: 'twin' }),
  ).toThrow('is one of job demo, expected twin');

  const { runs } = await runCompaction(ports, work.number, noDeadline);
  const files = runs!.flatMap((run) => run.files);
  const entries = (await Promise.all(files.map((file) => readStateFile(ports, file)))).flat();
  expect(new Set(entries.map(({ generation }) => generation))).toEqual(new Set([1]));
  const held = source.job.state.rows().filter(({ scope }) => scope.generation === 3);
  const tell = ({ key, version, position, states }: (typeof held)[number]['item']) => ({
    ...{ key, version, position },
    states: states && Buffer.from(states).toString('hex'),
  });
  const byKey = (a: { key: string }, b: { key: string }): number => (a.key < b.key ? -1 : 1);
  expect(entries.map(({ item }) => tell(item)).sort(byKey)).toEqual(
    held.map(({ item }) => tell(item)).sort(byKey),
  );
});
