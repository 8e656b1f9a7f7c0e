import { expect, it } from 'vitest';
import { openPlay } from './play.ts';

/*
 * A key is deleted and progress does not know yet. The tombstone is all that is left: it carries the outputs of the deletion (P3),
 * and the position that tells a late attempt that its events are in (P14).
 */

it('a deletion that commits without its progress is published by the next attempt, however it cuts (P3)', async () => {
  const play = await openPlay();
  play.put('k0');
  await play.read();
  play.put('k0', { kind: 'delete' });
  play.put('k1');
  const doomed = play.deliver('doomed', { from: 1 });
  await doomed.until('after state.write k0');
  await doomed.die();
  play.collectExpired();
  await play.redeliver({ from: 1, to: 2 });
  play.put('k0');
  await play.calm();
  expect(await play.audit()).toEqual([]);
});

it('a deleted key does not come back by an attempt from before it was there (P14)', async () => {
  const play = await openPlay();
  play.put('k0');
  const zombie = play.deliver('zombie', { to: 1 });
  await zombie.until('before state.load');
  play.put('k0', { kind: 'delete' });
  await play.redeliver();
  play.collectExpired();
  await zombie.goOn();
  play.put('k0');
  await play.calm();
  expect(await play.audit()).toEqual([]);
});
