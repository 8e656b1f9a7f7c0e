import { describe, expect, it } from 'vitest';
import { restoreJob } from './restore-job.ts';
import { firstShard, jobName } from '../job-fixture.ts';
import { Death, makeMortal } from './mortal-ports.ts';
import { half, put, straight, visible } from './two-halves.ts';

const order = {
  restore: 'r1',
  allowNonRestoredState: false,
  acceptsGaps: false,
  areTablesLost: false,
};

describe('a restore that dies', () => {
  it.each(['before', 'after'] as const)(
    'goes on when it is called again, wherever that was: %s any call',
    async (moment) => {
      const expected = await straight(40);
      const later = await straight(50);
      let deaths = 0;
      for (let diesAt = 1; ; diesAt += 1) {
        const world = await half((one) => one.checkpoint());
        const { job, ports, object, deliver } = world;
        const mortal = makeMortal(ports, diesAt, moment);
        const first = await restoreJob(mortal.ports, { ...order, manifest: object }).catch(
          (thrown: unknown) => thrown,
        );
        if (!(first instanceof Death)) {
          expect(first).toMatchObject({ generation: 2 });
          break;
        }
        deaths += 1;
        // The trigger goes on meanwhile; it is handed back, or it works in one of the two generations.
        put(job, 41, 50);
        await deliver(firstShard);
        const report = await restoreJob(ports, { ...order, manifest: object });
        expect(report, `died at call ${diesAt}`).toMatchObject({ generation: 2 });
        await deliver(firstShard);
        expect(visible(job), `died at call ${diesAt}`).toEqual(later);
        const item = await job.control.readJob(jobName);
        expect(item).toMatchObject({ generation: 2, hold: undefined });
        expect(item!.timeline).toHaveLength(1);
      }
      expect(deaths).toBeGreaterThan(60);
      expect(expected.entries.length).toBeLessThan(later.entries.length);
    },
  );
});
