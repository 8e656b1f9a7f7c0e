import { expect, it } from 'vitest';
import { collectGarbage } from '../../../../shared/runtime/checkpoint/collect-garbage.ts';
import { firstShard } from '../job-fixture.ts';
import { createSleeper } from '../restore/sleeping-ports.ts';
import { put } from '../restore/two-halves.ts';
import { createCoordinatedJob, minuteMs } from './coordinated-job.ts';
import { chooseEverything, compactNow, keepNewest } from './upkeep.ts';

/*
 * C7: what a cut goes on from stays as long as its work is pending and its generation is the job's. A coordinator that sleeps may
 * find it collected, once others have finished the checkpoint and later ones, or the job has gone over: nothing has failed then.
 */

const createCheckpointed = async () => {
  const coordinated = await createCoordinatedJob();
  const { job, ports, deliver, checkpoint } = coordinated;
  let last = 0;
  const goOn = async (): Promise<string> => {
    put(job, last + 1, last + 10);
    last += 10;
    await deliver(firstShard);
    const { object } = await checkpoint();
    return object;
  };
  return {
    ...coordinated,
    goOn,
    /** Keeps nothing but a checkpoint that goes on from nothing that was there before. */
    async replaceAll(): Promise<void> {
      await goOn();
      await compactNow({ ports }, chooseEverything);
      await goOn();
      await keepNewest(ports, 1);
      await collectGarbage(ports, { graceMs: 0, dryRun: false });
    },
  };
};

type Checkpointed = Awaited<ReturnType<typeof createCheckpointed>>;

/** Lets a tick sleep in front of each of its calls. Gives how many of those ticks found their work over. */
async function sleepEverywhere(
  begin: (job: Checkpointed) => Promise<unknown>,
  meanwhile: (job: Checkpointed) => Promise<unknown>,
): Promise<number> {
  let tooLate = 0;
  for (let bedtime = 1; ; bedtime += 1) {
    const checkpointed = await createCheckpointed();
    const { job, coordinator, registry, tick } = checkpointed;
    await begin(checkpointed);
    job.system.advance(minuteMs);
    const sleeper = createSleeper((_call, count) => count === bedtime);
    const { control, objects } = coordinator;
    const late = tick({
      ports: { control: sleeper.wrap(control), objects: sleeper.wrap(objects) },
    });
    if (!(await sleeper.fallsAsleep(late))) return tooLate;
    await meanwhile(checkpointed);
    await checkpointed.replaceAll();
    // The next one is due again.
    job.system.advance(minuteMs);
    sleeper.wake();
    expect(await late, `asleep before call ${bedtime}`).toMatchObject({ failed: 0 });
    expect(job.telemetry.lines.filter(({ level }) => level === 'error')).toEqual([]);
    expect(await registry()).toMatchObject({ failures: 0, pending: [] });
    if (job.telemetry.lines.some(({ message }) => /came too late/.test(message))) tooLate += 1;
  }
}

it('a checkpoint that others have ended and collected does not count as failed by who comes late', async () => {
  const tooLate = sleepEverywhere(
    ({ goOn }) => goOn(),
    ({ tick }) => tick(),
  );
  expect(await tooLate).toBeGreaterThan(0);
});

it('a checkpoint of a generation that is over does not count as failed by who comes late', async () => {
  const goOver = async ({ goOn, restore }: Checkpointed) => restore(await goOn());
  expect(await sleepEverywhere(goOver, goOver)).toBeGreaterThan(0);
});
