import { expect, it } from 'vitest';
import { describeOperator } from '../../../../shared/runtime/describe-operator.ts';
import {
  completeManifest,
  dropPending,
  registerPending,
  writeManifest,
} from '../../../../shared/runtime/checkpoint/take-manifest.ts';
import { firstShard, jobName, keyGroups } from '../job-fixture.ts';
import { createRestorableJob } from '../restore/restorable-job.ts';
import { put } from '../restore/two-halves.ts';

/*
 * An execution registers its work, makes it and ends; what it made is deleted. Then a late twin of its registration arrives, and
 * behind it a late twin of its completion: the files that this one would list are gone (C4).
 */
it('work that was registered anew under the same id is not completed by who has made the work before it', async () => {
  const { job, ports, deliver } = await createRestorableJob();
  put(job, 1, 5);
  await deliver(firstShard);
  const request = { generation: 1, label: '', timeoutMs: 60_000, id: 'execution' } as const;
  const first = await registerPending(ports, { ...request, kind: 'checkpoint' });
  const manifest = await writeManifest(ports, first, {
    maxParallelism: keyGroups,
    operators: [describeOperator(job.operator)],
    note: '',
    tags: {},
  });
  await dropPending(ports, first.id);
  const anew = await registerPending(ports, { ...request, kind: 'checkpoint' });
  expect(anew.number).toBe(first.number + 1);
  expect(await completeManifest(ports, first, manifest)).toBeUndefined();
  const registry = await job.control.readRegistry(jobName);
  expect(registry).toMatchObject({ complete: [], pending: [{ number: anew.number }] });
});
