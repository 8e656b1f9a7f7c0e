import { expect, it } from 'vitest';
import { openPlay, type Play } from './play.ts';

/*
 * Somebody has cut and has not written down yet what the cut is made of. Nothing names its segments while they are merged into
 * others, the checkpoints that listed them are retired, and garbage is collected. They stay because the work is pending (C7); once
 * it is too old they go, and then it can never complete (C4).
 */

/** Checkpoints until only one is left, whose state lies in runs. */
const mergeAll = async (play: Play): Promise<void> => {
  for (let round = 1; round <= 3; round += 1) {
    expect(await play.tick(`K${round}`, { retained: 1, mergeAfter: 1 }).goOn()).toBe('done');
  }
};

it('garbage collection leaves what a slow savepoint has cut and not named yet (C7)', async () => {
  const play = await openPlay();
  play.put('k0');
  await play.read();
  play.put('k1');
  await play.read();
  const savepoint = play.savepoint('s1');
  await savepoint.until('before object.create cut.json');
  await mergeAll(play);
  expect(await play.collect('G1').goOn()).toBe('done');
  expect(await savepoint.goOn()).toBe('SUCCEEDED');
  await play.calm();
  expect(await play.audit()).toEqual([]);
});

it('a slow manifest whose time was over, and whose files are gone, is never complete (C4, C7)', async () => {
  const play = await openPlay();
  play.put('k0');
  await play.read();
  const slow = play.tick('slow');
  await slow.until('before object.create 000000000001.json');
  play.pass(11 * 60_000);
  await mergeAll(play);
  expect(await play.collect('G1').goOn()).toBe('done');
  expect(await slow.goOn()).toBe('done');
  const numbers = play.world.registry().complete.map(({ number }) => number);
  expect(numbers).not.toContain(1);
  await play.calm();
  expect(await play.audit()).toEqual([]);
});
