import { describe, expect, it } from 'vitest';
import { abandonWork } from '../../../../shared/runtime/restore/restore-steps.ts';
import { abortHold } from '../../../../shared/runtime/restore/hold.ts';
import { unpinCloned } from '../../../../shared/runtime/restore/copy-manifest.ts';
import { restoreJob } from './restore-job.ts';
import { firstShard, jobName } from '../job-fixture.ts';
import { cloneOrder, halfway, tellRowsAfter } from './clone-world.ts';
import { Death, makeMortal } from './mortal-ports.ts';
import { put, straight, visible } from './two-halves.ts';

/** A clone that dies at a call; undefined where it comes to its end before. */
const die = async (diesAt: number, moment: 'before' | 'after') => {
  const world = await halfway((one) => one.checkpoint());
  const mortal = makeMortal(world.twin.ports, diesAt, moment);
  const ended = await restoreJob(mortal.ports, cloneOrder(world.object)).catch(
    (thrown: unknown) => thrown,
  );
  if (!(ended instanceof Death)) {
    expect(ended).toMatchObject({ generation: 2 });
    return undefined;
  }
  // Both triggers go on meanwhile.
  put(world.source.job, 41, 50);
  await world.source.deliver(firstShard);
  await world.twin.deliver(firstShard);
  return world;
};

describe('a clone that dies', () => {
  it.each(['before', 'after'] as const)(
    'goes on when it is called again: %s any call',
    async (moment) => {
      const expected = await tellRowsAfter(20, 50);
      const undisturbed = await straight(50);
      // Behind a call is before the next one: the two together come to every moment.
      let diesAt = 1;
      for (; ; diesAt += 2) {
        const world = await die(diesAt, moment);
        if (world === undefined) break;
        const { source, twin, object } = world;
        const report = await twin.clone(object);
        expect(report, `died at call ${diesAt}`).toMatchObject({ generation: 2 });
        await twin.deliver(firstShard);
        expect(visible(twin.job), `died at call ${diesAt}`).toEqual(expected);
        expect(visible(source.job), `died at call ${diesAt}`).toEqual(undisturbed);
        for (const [job, name] of [
          [source.job, jobName],
          [twin.job, 'twin'],
        ] as const) {
          const registry = await job.control.readRegistry(name);
          expect(registry, `died at call ${diesAt}`).toMatchObject({ pins: [], pending: [] });
        }
      }
      expect(diesAt).toBeGreaterThan(90);
    },
  );

  it.each(['before', 'after'] as const)(
    'is given up and begun anew under another name: %s any call up to its flip',
    async (moment) => {
      const expected = await tellRowsAfter(20, 50);
      for (let diesAt = 1; ; diesAt += 2) {
        const world = await die(diesAt, moment);
        if (world === undefined) break;
        const { twin, object } = world;
        const { hold, generation } = (await twin.job.control.readJob('twin'))!;
        if (generation > 0) break;
        // Nothing of it has run, whatever it has loaded.
        expect(visible(twin.job)).toEqual({ entries: [], totals: {}, deadLetters: [] });
        const order = cloneOrder(object);
        await abortHold(twin.ports, hold!.id);
        await abandonWork(twin.ports, order.restore);
        await unpinCloned(twin.ports, order);
        const kept = await twin.job.control.readJob('twin');
        expect(kept, `died at call ${diesAt}`).toMatchObject({ hold: { kind: 'unborn' } });
        expect(await twin.deliver(firstShard)).toMatchObject({ kind: 'handBack' });
        await twin.clone(object, { restore: 'c2' });
        expect(visible(twin.job), `died at call ${diesAt}`).toEqual(expected);
      }
    },
  );
});
