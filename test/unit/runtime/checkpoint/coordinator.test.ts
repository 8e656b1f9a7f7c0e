import { describe, expect, it } from 'vitest';
import { HoldfastError } from '../../../../shared/core/errors.ts';
import { completionName, jobPrefix } from '../../../../shared/runtime/object-names.ts';
import { readManifest } from '../../../../shared/runtime/checkpoint/take-manifest.ts';
import { jobName } from '../job-fixture.ts';
import { createCoordinatedJob, minuteMs, settings } from './coordinated-job.ts';

type Coordinated = Awaited<ReturnType<typeof createCoordinatedJob>>;

/** @param minutes 1: nothing but checkpoints is due; 15: channels are visited and garbage is collected, too */
async function createRunning(minutes = 1, records = 3): Promise<Coordinated> {
  const coordinated = await createCoordinatedJob();
  for (let at = 0; at < records; at += 1) coordinated.job.put(`user${at}`, { amount: at });
  if (records > 0) await coordinated.job.createEnvironment().deliver();
  coordinated.job.system.advance(minutes * minuteMs);
  return coordinated;
}

const checkpointsOf = async ({ registry }: Coordinated) =>
  (await registry()).complete.filter(({ kind }) => kind === 'checkpoint');

/** Everything is told by the registry and, for those that have lost it, by S3: they must say the same. */
async function expectSound(coordinated: Coordinated): Promise<void> {
  const { pending, complete } = await coordinated.registry();
  expect(pending).toEqual([]);
  const objects = [...coordinated.job.objects.objects().keys()];
  for (const reference of complete) {
    await readManifest(coordinated.ports, reference.object);
    expect(objects).toContain(completionName(jobName, reference));
  }
}

describe('a tick of the coordinator', () => {
  it('makes a checkpoint and tells how it went', async () => {
    const coordinated = await createRunning();
    const { completed } = await coordinated.tick();
    expect(await checkpointsOf(coordinated)).toEqual(completed);
    expect(completed).toMatchObject([{ kind: 'checkpoint', generation: 1, number: 1 }]);
    expect(coordinated.figures).toMatchObject([
      { checkpointsCompleted: 1, checkpointFailures: 0, checkpointBytes: completed[0]!.bytes },
    ]);
    await expectSound(coordinated);
  });

  it('says in the manifest what the deployed code is', async () => {
    const coordinated = await createRunning();
    const { completed } = await coordinated.tick();
    const manifest = await readManifest(coordinated.ports, completed[0]!.object);
    expect(manifest.operators).toEqual([await coordinated.ports.calls.describe('tally')]);
    expect(manifest.channels).toHaveLength(1);
  });

  it('makes none before the interval is over', async () => {
    const { tick, job } = await createRunning();
    await tick();
    job.system.advance(minuteMs / 2);
    // What is due in this tick it waits for.
    expect(await tick({ settings: { intervalMs: 10 * minuteMs } })).toMatchObject({
      completed: [],
    });
    expect((await tick()).completed).toHaveLength(1);
  });

  it('makes one after the other where the interval is shorter than a tick', async () => {
    const { tick } = await createRunning();
    const { completed } = await tick({ settings: { intervalMs: 10_000 } });
    expect(completed.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5]);
    const times = completed.map(({ completedAtMs }) => completedAtMs);
    expect(times.map((time) => time - times[0]!)).toEqual([0, 10_000, 20_000, 30_000, 40_000]);
  });

  it('pauses after one as long as it is told', async () => {
    const { tick } = await createRunning();
    const { completed } = await tick({ settings: { intervalMs: 10_000, minPauseMs: 20_000 } });
    expect(completed).toHaveLength(3);
  });

  it('leaves a job alone that is held, and one that is not there', async () => {
    const { tick, job, registry } = await createRunning();
    const there = (await job.control.readJob(jobName))!;
    const hold = {
      ...({ id: 'h1', kind: 'restore', owner: 'r1', sinceMs: job.system.now() } as const),
      ...{ isFlipped: false, undo: undefined },
    };
    await job.control.replaceJob({ ...there, version: there.version + 1, hold }, there.version);
    const before = await registry();
    await tick();
    await tick({ ports: { job: 'unknown' } });
    expect(await registry()).toEqual(before);
    expect(
      [...job.objects.objects().keys()].filter((name) => !name.startsWith(jobPrefix(jobName))),
    ).toEqual([]);
  });

  it('keeps as many checkpoints as it is told, besides what is pinned and savepoints', async () => {
    const coordinated = await createRunning();
    const { tick, job, ports } = coordinated;
    const savepoint = await coordinated.savepoint('keep');
    await tick();
    const [first] = await checkpointsOf(coordinated);
    const there = await coordinated.registry();
    const pin = { object: first!.object, id: 'p1', owner: 'somebody', sinceMs: 0 };
    await ports.control.writeRegistry(jobName, {
      ...there,
      version: there.version + 1,
      pins: [pin],
    });
    for (let minutes = 0; minutes < 8; minutes += 1) {
      job.system.advance(minuteMs);
      await tick();
    }
    const kept = await checkpointsOf(coordinated);
    expect(kept.map(({ number }) => number)).toEqual([first!.number, 6, 7, 8, 9, 10]);
    expect((await coordinated.registry()).complete).toContainEqual(savepoint);
  });

  it('fails a checkpoint for what no retry mends, and reports more failures than are tolerated', async () => {
    const { tick, job, ports, registry, figures } = await createRunning();
    const describe = async () => {
      throw new HoldfastError('invalid', 'operator tally has no function');
    };
    const broken = { calls: { ...ports.calls, describe } };
    const errors = () =>
      job.telemetry.lines.filter(({ message }) => message === 'checkpoints keep failing');
    for (let minutes = 0; minutes < 3; minutes += 1) {
      expect(await tick({ ports: broken, settings: { tolerableFailures: 2 } })).toMatchObject({
        failed: 1,
      });
      expect(errors()).toHaveLength(minutes < 2 ? 0 : 1);
      job.system.advance(minuteMs);
    }
    expect(await registry()).toMatchObject({
      pending: [],
      failures: 3,
      lastFailure: 'operator tally has no function',
    });
    expect(figures.at(-1)).toMatchObject({ checkpointFailures: 3, checkpointAgeMs: undefined });
    expect(errors()[0]?.level).toBe('error');
    await tick();
    expect(await registry()).toMatchObject({ failures: 0, lastFailure: undefined });
  });

  it('goes on for its whole time with a checkpoint that does not pass, then gives it up', async () => {
    const { tick, job, ports, registry } = await createRunning();
    const describe = async () => {
      throw new HoldfastError('unavailable', 'the function did not answer');
    };
    const broken = { calls: { ...ports.calls, describe } };
    const reports = [];
    for (let minutes = 0; minutes < 11; minutes += 1) {
      reports.push(await tick({ ports: broken }));
      job.system.advance(minuteMs - (job.system.now() % minuteMs));
    }
    expect(reports.slice(0, 10).map(({ expired }) => expired)).not.toContain(1);
    expect(reports[10]).toMatchObject({ expired: 1, completed: [] });
    expect(await registry()).toMatchObject({
      failures: 1,
      lastFailure: 'it was not complete within 600 s',
    });
  });

  it('takes a second copy of each manifest, of savepoints with their files, and catches up on those that are missing', async () => {
    const coordinated = await createRunning();
    const { tick, job, backup } = coordinated;
    const create = async () => {
      throw new HoldfastError('unavailable', 'the backup bucket did not answer');
    };
    await tick({ ports: { backup: { ...backup, create } } });
    expect([...backup.objects().keys()]).toEqual([]);
    const savepoint = await coordinated.savepoint('keep');
    // Minute 5, in which a patrol looks for what is missing.
    job.system.advance(4 * minuteMs);
    await tick();
    const complete = [...(await checkpointsOf(coordinated)), savepoint];
    expect(complete).toHaveLength(3);
    const files = [...job.objects.objects().keys()].filter((name) => name.includes('/files/'));
    expect(files).toHaveLength(1);
    const manifests = complete.flatMap((one) => [one.object, completionName(jobName, one)]);
    const names = [...manifests, ...files];
    expect([...backup.objects().keys()]).toEqual(names.toSorted());
    for (const name of names) {
      expect(backup.objects().get(name)).toEqual(job.objects.objects().get(name));
    }
  });

  it('makes the same requests for a state a hundred times as large', async () => {
    const requests = async (stateCharacters: number): Promise<number> => {
      const coordinated = await createCoordinatedJob();
      const { job } = coordinated;
      for (let at = 0; at < 40; at += 1) job.put(`user${at}`, { amount: at, stateCharacters });
      await job.createEnvironment().deliver();
      job.system.advance(minuteMs);
      let count = 0;
      await coordinated.tick({ onCall: (call) => void (count = call) });
      expect(await checkpointsOf(coordinated)).toHaveLength(1);
      return count;
    };
    expect(await requests(100_000)).toBe(await requests(1_000));
  });
});

describe('upkeep in a tick', () => {
  it('visits a channel that nothing arrives in, one that was never read, and what a hold has left fenced', async () => {
    const { tick, job } = await createCoordinatedJob({ shards: 2 });
    job.put('ann', { amount: 1 });
    job.system.advance(5 * minuteMs);
    await tick();
    expect(job.control.progressRows()).toHaveLength(2);
    const { channel, progress } = job.control
      .progressRows()
      .find((row) => row.progress.position !== undefined)!;
    expect(progress.position?.sequence).toBe(job.records(channel.shardId)[0]?.sequence);
    await job.control.fenceProgress(jobName, 1, channel, 'h-over');
    job.system.advance(5 * minuteMs);
    await tick();
    expect(job.progress(channel.shardId)).toMatchObject({
      fence: undefined,
      position: progress.position,
    });
    job.system.advance(7 * 3600 * 1000);
    await tick();
    expect(job.progress(channel.shardId)?.checkedAtMs).toBeGreaterThan(job.system.now() - minuteMs);
  });

  it('merges many segments, and the runs before, into a run that the next checkpoint lists in their place', async () => {
    const coordinated = await createCoordinatedJob();
    const { job, tick, ports } = coordinated;
    const environment = job.createEnvironment();
    const newest = async () => (await checkpointsOf(coordinated)).at(-1)!;
    for (let round = 0; round < 2; round += 1) {
      for (let at = 0; at < 256; at += 1) {
        job.put(`user${at % 10}`, { amount: 1 });
        await environment.deliver(job.records().slice(-1));
      }
      job.system.advance(minuteMs);
      for (let minutes = 0; minutes < 3; minutes += 1) {
        await tick();
        job.system.advance(minuteMs);
      }
      const { runs, channels } = await readManifest(ports, (await newest()).object);
      expect(runs).toHaveLength(1);
      expect(channels.map(({ segments }) => segments)).toEqual([[]]);
    }
    await coordinated.restore((await newest()).object);
    expect(job.totals()['user3']).toBe(52);
    await expectSound(coordinated);
  });

  it('collects garbage now and then', async () => {
    const { tick, job } = await createRunning();
    const manifests = () =>
      [...job.objects.objects().keys()].filter((name) => name.endsWith('.json')).length;
    const counts: number[] = [];
    for (let minutes = 1; minutes <= 30; minutes += 1) {
      await tick({ settings: { retained: 1 } });
      counts.push(manifests());
      job.system.advance(minuteMs - (job.system.now() % minuteMs));
    }
    // The marker of the job is among them.
    expect(Math.max(...counts)).toBeGreaterThan(10);
    expect(counts.filter((count, at) => count < (counts[at - 1] ?? 0))).toHaveLength(2);
    expect(Math.min(...counts.slice(15))).toBeLessThan(5);
  });

  it('does not keep checkpoints waiting where it fails', async () => {
    const coordinated = await createRunning();
    const { job, ports, tick } = coordinated;
    job.system.advance(14 * minuteMs);
    const list = (): AsyncIterable<string> => {
      throw new HoldfastError('corrupt', 'the bucket cannot be listed');
    };
    expect((await tick({ ports: { objects: { ...ports.objects, list } } })).completed).toHaveLength(
      1,
    );
    expect(job.telemetry.lines).toContainEqual({
      level: 'error',
      message: 'upkeep failed',
      fields: { upkeep: 'collect', reason: 'the bucket cannot be listed' },
    });
  });
});

describe('a coordinator that is killed at any of its calls', { timeout: 120_000 }, () => {
  it.each([
    ['before', 1],
    ['after', 1],
    ['before', 15],
    ['after', 15],
  ] as const)(
    'leaves what the next tick finishes, killed %s a call in minute %i',
    async (when, minutes) => {
      let at = 1;
      for (; ; at += 1) {
        const coordinated = await createRunning(minutes);
        const wasKilled = await coordinated.killAt(at, when);
        coordinated.job.system.advance(minuteMs);
        await coordinated.tick();
        await expectSound(coordinated);
        const { failures } = await coordinated.registry();
        const made = await checkpointsOf(coordinated);
        expect({ at, failures, made: made.length }).toEqual({
          at,
          failures: 0,
          made: expect.toSatisfy((count: number) => count === 1 || count === 2) as number,
        });
        expect(made.at(-1)!.completedAtMs).toBeGreaterThanOrEqual(
          coordinated.job.system.now() - minuteMs,
        );
        if (!wasKilled) break;
      }
      expect(at).toBeGreaterThan(15);
    },
  );

  it('leaves what is expired once its time is over', async () => {
    for (let at = 1; ; at += 1) {
      const coordinated = await createRunning();
      const wasKilled = await coordinated.killAt(at, 'after');
      coordinated.job.system.advance(settings.timeoutMs);
      await coordinated.tick();
      await expectSound(coordinated);
      expect((await checkpointsOf(coordinated)).length, `killed at ${at}`).toBeGreaterThan(0);
      if (!wasKilled) break;
    }
  });
});

describe('two coordinators at once', { timeout: 120_000 }, () => {
  it.each([1, 15])(
    'make one checkpoint together in minute %i, wherever one stands while the other runs',
    async (minutes) => {
      for (let at = 1; ; at += 1) {
        const coordinated = await createRunning(minutes);
        let hasPaused = false;
        await coordinated.tick({
          async onCall(call, moment) {
            if (call !== at || moment !== 'before') return;
            hasPaused = true;
            await coordinated.tick();
          },
        });
        await expectSound(coordinated);
        const { failures, complete } = await coordinated.registry();
        expect({ at, failures, made: complete.length }).toEqual({ at, failures: 0, made: 1 });
        if (!hasPaused) break;
      }
    },
  );

  it('make one checkpoint together where one of them dies in the midst of it', async () => {
    for (let at = 1; ; at += 1) {
      const coordinated = await createRunning();
      const wasKilled = await coordinated.killAt(at, 'after');
      await coordinated.tick();
      await expectSound(coordinated);
      const { failures, complete } = await coordinated.registry();
      expect({ at, failures, made: complete.length }).toEqual({ at, failures: 0, made: 1 });
      if (!wasKilled) break;
    }
  });
});
