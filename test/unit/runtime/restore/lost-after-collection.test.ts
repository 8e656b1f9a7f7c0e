import { describe, expect, it } from 'vitest';
import { collectGarbage } from '../../../../shared/runtime/checkpoint/collect-garbage.ts';
import { findComplete } from '../../../../shared/runtime/checkpoint/rebuild-registry.ts';
import { completionName, generationPrefix } from '../../../../shared/runtime/object-names.ts';
import { chooseEverything, compactNow, keepNewest } from '../checkpoint/upkeep.ts';
import { firstShard, jobName } from '../job-fixture.ts';
import { createRestorableJob, type RestorableJob } from './restorable-job.ts';
import { restoreJob } from './restore-job.ts';
import { createSleeper, orderOf, sleepIn } from './sleeping-ports.ts';
import { half, put, straight, visible } from './two-halves.ts';

/** Processes some more, and makes a checkpoint of it that lists no segment but the last ones. */
const goOn = async (world: RestorableJob, from: number, to: number) => {
  put(world.job, from, to);
  await world.deliver(firstShard);
  await world.checkpoint();
  await compactNow(world, chooseEverything);
  return world.checkpoint();
};

const collect = async ({ ports }: RestorableJob): Promise<number> => {
  await keepNewest(ports, 1);
  const { deleted } = await collectGarbage(ports, { graceMs: 0, dryRun: false });
  return deleted['segment: passed by all recovery points'] ?? 0;
};

const segmentsOf = ({ job }: RestorableJob): string[] =>
  [...job.objects.objects().keys()].filter((name) => name.startsWith(generationPrefix(jobName, 1)));

/** Of the record that made a row; all of one length. */
const sequenceOf = ({ id }: { readonly id: string }): string => id.split('#')[2]!;

describe('a job whose tables are lost when garbage was collected', () => {
  it('is made again with its views whole, and its appended rows as far as segments are kept', async () => {
    const world = await createRestorableJob();
    const { job } = world;
    await goOn(world, 1, 20);
    await goOn(world, 21, 40);
    const { object } = await goOn(world, 41, 60);
    expect(await collect(world)).toBeGreaterThan(0);
    put(job, 61, 80);
    await world.deliver(firstShard);
    job.loseTables();
    await world.restore(object, { areTablesLost: true });
    const whole = await straight(80);
    const { entries, totals } = visible(job);
    expect(totals).toEqual(whole.totals);
    const oldest = entries.map(sequenceOf).sort()[0]!;
    expect(entries).toEqual(whole.entries.filter((row) => sequenceOf(row) >= oldest));
    // The last checkpoint lists a segment, and the stream has what came after it.
    expect(entries.length).toBeGreaterThan(20);
    expect(entries.length).toBeLessThan(whole.entries.length);
    expect(await job.control.readJob(jobName)).toMatchObject({ generation: 2, hold: undefined });
    put(job, 81, 90);
    await world.deliver(firstShard);
    expect(visible(job).totals).toEqual((await straight(90)).totals);
  });

  it('can go back to a savepoint of before with all its rows, whatever is collected in between', async () => {
    const world = await createRestorableJob();
    const { job } = world;
    put(job, 1, 20);
    await world.deliver(firstShard);
    const early = await world.savepoint('early');
    const { object } = await goOn(world, 21, 40);
    job.loseTables();
    await world.restore(object, { areTablesLost: true });
    await goOn(world, 41, 60);
    await goOn(world, 61, 80);
    await collect(world);
    expect(segmentsOf(world).length).toBeGreaterThan(0);
    await world.restore(early.object);
    expect(visible(job)).toEqual(await straight(80));
  });
});

describe('a job that is being made again', () => {
  it('keeps what it begins with where garbage is collected before it has begun, however long that takes', async () => {
    const world = await half((one) => one.savepoint('keep'));
    const { job, ports, object } = world;
    job.loseTables();
    const sleeper = createSleeper((call) => call === 'createProgress');
    const order = { ...orderOf(object), areTablesLost: true };
    const first = restoreJob(sleepIn(sleeper, ports), order);
    expect(await sleeper.fallsAsleep(first)).toBe(true);
    // What it has registered is too old by now.
    job.system.advance(25 * 3_600_000);
    await collectGarbage(ports, { graceMs: 0, dryRun: false });
    sleeper.wake();
    expect(await first).toMatchObject({ generation: 2 });
    expect(visible(job)).toEqual(await straight(40));
    // Its undo point names the base that it was loaded from.
    expect(await world.restore(object, { restore: 'r2' })).toMatchObject({ generation: 3 });
    expect(visible(job)).toEqual(await straight(40));
  });

  it('takes a manifest for complete whose mark is damaged', async () => {
    const { job, ports, object } = await half((one) => one.checkpoint());
    const [known] = await findComplete(ports);
    const mark = completionName(jobName, known!);
    job.objects.lose(mark);
    await job.objects.create(mark, new TextEncoder().encode('{"completedAtMs'));
    expect(await findComplete(ports)).toEqual([
      { ...known, object, completedAtMs: expect.any(Number) as number },
    ]);
  });
});
