import { expect, it } from 'vitest';
import { readRegistry } from '../../../../shared/runtime/checkpoint/change-registry.ts';
import { collectGarbage } from '../../../../shared/runtime/checkpoint/collect-garbage.ts';
import { deleteSavepoint } from '../../../../shared/runtime/checkpoint/delete-savepoint.ts';
import { findComplete } from '../../../../shared/runtime/checkpoint/rebuild-registry.ts';
import { retireCheckpoints } from '../../../../shared/runtime/checkpoint/take-checkpoint.ts';
import { noDeadline } from '../../../../shared/runtime/deadline.ts';
import { half, visible } from './two-halves.ts';

it('a savepoint that a generation was made from leaves its manifest, and garbage is collected on', async () => {
  const { job, ports, object, restore, savepoint } = await half((one) => one.savepoint('half'));
  const before = visible(job);
  const { undo } = await restore(object);
  await restore(undo!);
  const undos = (await readRegistry(ports)).complete.filter(({ kind }) => kind === 'undo');
  await retireCheckpoints(ports, undos);
  await deleteSavepoint(ports, 'half');
  const names = [...job.objects.objects().keys()].filter((name) => name.includes('/savepoints/'));
  expect(names).toEqual([object]);
  expect((await findComplete(ports)).map(({ label }) => label)).not.toContain('half');
  const options = { graceMs: 0, dryRun: false, deadline: noDeadline };
  expect(await collectGarbage(ports, options)).toMatchObject({ isDone: true });
  expect(await job.objects.read(object)).toBeDefined();
  // Another savepoint of this name would find it standing, and be it.
  await expect(savepoint('half')).rejects.toThrow(
    'of an earlier savepoint half stands in the bucket',
  );
  const later = await savepoint('other');
  await restore(later.object);
  expect(visible(job)).toEqual(before);
});
