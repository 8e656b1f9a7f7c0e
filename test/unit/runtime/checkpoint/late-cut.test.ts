import { expect, it } from 'vitest';
import { collectGarbage } from '../../../../shared/runtime/checkpoint/collect-garbage.ts';
import { firstShard } from '../job-fixture.ts';
import { createSleeper } from '../restore/sleeping-ports.ts';
import { put } from '../restore/two-halves.ts';
import { createCoordinatedJob, minuteMs } from './coordinated-job.ts';
import { chooseEverything, compactNow, keepNewest } from './upkeep.ts';

/*
 * C7: what a cut goes on from stays as long as its work is pending. A coordinator that sleeps in its cut may find it collected, once
 * others have finished the checkpoint and later ones: nothing has failed then.
 */

const createCheckpointed = async () => {
  const coordinated = await createCoordinatedJob();
  const { job, ports, deliver, checkpoint } = coordinated;
  let last = 0;
  const goOn = async (): Promise<void> => {
    put(job, last + 1, last + 10);
    last += 10;
    await deliver(firstShard);
    await checkpoint();
    await compactNow({ ports }, chooseEverything);
  };
  await goOn();
  return {
    ...coordinated,
    /** Everything that the job had is replaced, and collected. */
    async replaceAll(): Promise<void> {
      await goOn();
      await keepNewest(ports, 1);
      await collectGarbage(ports, { graceMs: 0, dryRun: false });
    },
  };
};

it('a checkpoint that others have ended and collected does not count as failed by who comes late', async () => {
  let tooLate = 0;
  for (let bedtime = 1; ; bedtime += 1) {
    const { job, tick, coordinator, registry, replaceAll } = await createCheckpointed();
    job.system.advance(minuteMs);
    const sleeper = createSleeper((_call, count) => count === bedtime);
    const { control, objects } = coordinator;
    const late = tick({
      ports: { control: sleeper.wrap(control), objects: sleeper.wrap(objects) },
    });
    if (!(await sleeper.fallsAsleep(late))) break;
    await tick();
    await replaceAll();
    sleeper.wake();
    expect(await late, `asleep before call ${bedtime}`).toMatchObject({ failed: 0 });
    expect(job.telemetry.lines.filter(({ level }) => level === 'error')).toEqual([]);
    const wasTooLate = job.telemetry.lines.some(({ message }) => /too late/.test(message));
    if (wasTooLate) tooLate += 1;
    expect(await registry()).toMatchObject({ failures: 0, pending: [] });
  }
  expect(tooLate).toBeGreaterThan(0);
});
