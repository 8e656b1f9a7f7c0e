import { expect, it } from 'vitest';
import { collectGarbage } from '../../../../shared/runtime/checkpoint/collect-garbage.ts';
import { findComplete } from '../../../../shared/runtime/checkpoint/rebuild-registry.ts';
import { completionName } from '../../../../shared/runtime/object-names.ts';
import { createCoordinatedJob, minuteMs } from '../checkpoint/coordinated-job.ts';
import { keepNewest } from '../checkpoint/upkeep.ts';
import { firstShard, jobName } from '../job-fixture.ts';
import { createSleeper } from './sleeping-ports.ts';
import { put, straight, visible } from './two-halves.ts';

/*
 * C4, R11: a coordinator that dies right behind the registry's write leaves a complete manifest without its mark, and the next one
 * catches up on it. Where that one comes late, the manifest has been collected, and its mark alone stands: it must not be in the
 * way of a job whose tables are lost.
 */

/** Two checkpoints, the first of which has no mark; the clock stands in a minute of patrols. */
const createUnmarked = async () => {
  const coordinated = await createCoordinatedJob();
  const { job } = coordinated;
  put(job, 1, 20);
  await coordinated.deliver(firstShard);
  const first = await coordinated.checkpoint();
  put(job, 21, 40);
  await coordinated.deliver(firstShard);
  await coordinated.checkpoint();
  job.objects.lose(completionName(jobName, first));
  job.system.advance(15 * minuteMs - (job.system.now() % (15 * minuteMs)));
  return { ...coordinated, first };
};

it('tables can be lost whenever a mark comes later than the collection of its manifest', async () => {
  let orphans = 0;
  for (let bedtime = 1; ; bedtime += 1) {
    const { job, tick, ports, first, coordinator, restore } = await createUnmarked();
    const sleeper = createSleeper((_call, count) => count === bedtime);
    const { control, objects } = coordinator;
    const late = tick({
      ports: { control: sleeper.wrap(control), objects: sleeper.wrap(objects) },
    });
    if (!(await sleeper.fallsAsleep(late))) break;
    await keepNewest(ports, 1);
    await collectGarbage(ports, { graceMs: 0, dryRun: false });
    sleeper.wake();
    await late;
    const names = job.objects.objects();
    const isOrphan = names.has(completionName(jobName, first)) && !names.has(first.object);
    if (isOrphan) orphans += 1;
    job.loseTables();
    const { object } = (await findComplete(ports)).at(-1)!;
    expect(await restore(object, { areTablesLost: true })).toMatchObject({ generation: 2 });
    expect(visible(job).totals, `asleep before call ${bedtime}`).toEqual(
      (await straight(40)).totals,
    );
  }
  expect(orphans).toBeGreaterThan(0);
});

it('a tick marks nothing that it has collected itself', async () => {
  const { job, tick, ports, first } = await createUnmarked();
  // Retired by its other lane, just before the collection looks.
  const list = async function* (prefix: string) {
    await keepNewest(ports, 1);
    yield* job.objects.list(prefix);
  };
  await tick({ ports: { objects: { ...job.objects, list } } });
  const names = job.objects.objects();
  expect(names.has(first.object)).toBe(false);
  expect(names.has(completionName(jobName, first))).toBe(false);
});
