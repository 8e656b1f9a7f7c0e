import { expect, it } from 'vitest';
import { openPlay } from './play.ts';

/*
 * The step that takes the hold is given up and run again. When the first one wakes up the restore is over, and the slot is free:
 * were it to take it now, the job would be held by nobody who is alive (R1).
 */

it.each(['in restore.take-hold', 'before job.replace'] as const)(
  'a step that takes the hold, late, %s, does not hold a job whose restore is over (R1)',
  async (place) => {
    const play = await openPlay();
    play.put('k0');
    await play.read();
    const manifest = await play.checkpoint();
    play.put('k0');
    await play.read();
    const restore = play.restore('r1', manifest);
    await restore.until('in restore.take-hold');
    await restore.until(place);
    const late = await restore.sleep();
    expect(await restore.goOn()).toBe('SUCCEEDED');
    await late.goOn();
    expect(play.world.present()).toMatchObject({ generation: 2, hold: undefined });
    await play.calm();
    expect(await play.audit()).toEqual([]);
  },
);
