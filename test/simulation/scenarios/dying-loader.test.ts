import { expect, it } from 'vitest';
import { openPlay } from './play.ts';

/*
 * The process that loads a generation is given up and dies, twice, and one that was given up wakes up long after the restore: it
 * still has the states of the cut, and would put them in place of newer ones if it did more than insert (R5).
 */

it('a restore whose loader dies twice, and wakes up late, loads each key once (R5)', async () => {
  const play = await openPlay();
  for (const account of ['k0', 'k1', 'k2']) play.put(account);
  await play.read();
  const manifest = await play.checkpoint();
  play.put('k1', { kind: 'delete' });
  play.put('k2');
  await play.read();
  const restore = play.restore('r1', manifest);
  await restore.until('in restore.load');
  await restore.until('before object.read .run');
  const late = await restore.sleep();
  await restore.until('after state.write k0');
  await restore.die();
  await restore.until('before state.write k2');
  await restore.die();
  expect(await restore.goOn()).toBe('SUCCEEDED');
  await late.goOn();
  expect(play.world.present().generation).toBe(2);
  await play.calm();
  expect(await play.audit()).toEqual([]);
});
