import { expect, it } from 'vitest';
import { openPlay } from './play.ts';

/*
 * A restore has validated its manifest and not pinned it yet. Meanwhile it is retired, and its files are collected. The pin must be
 * refused: a restore that went on would find out halfway, with the job held, that there is nothing to load (C7).
 */

it('a restore whose manifest was retired between its validation and its pin is refused (C7)', async () => {
  const play = await openPlay();
  play.put('k0');
  await play.read();
  const manifest = await play.checkpoint();
  play.put('k1');
  await play.read();
  const restore = play.restore('r1', manifest);
  await restore.until('before registry.write');
  for (let round = 1; round <= 3; round += 1) {
    await play.tick(`K${round}`, { retained: 1, mergeAfter: 1 }).goOn();
  }
  expect(await play.collect('G1').goOn()).toBe('done');
  expect(await restore.goOn()).toMatch(/^FAILED: .* is not kept any more, and its files go/);
  expect(play.world.present()).toMatchObject({ generation: 1, hold: undefined });
  expect(play.world.registry()).toMatchObject({ pins: [], pending: [] });
  await play.calm();
  expect(await play.audit()).toEqual([]);
});

it('a checkpoint that is pinned while a coordinator is about to retire it stays (C7)', async () => {
  const play = await openPlay();
  play.put('k0');
  await play.read();
  const oldest = await play.checkpoint();
  play.put('k1');
  await play.read();
  // It registers a checkpoint, completes it, and takes the one before it away.
  const coordinator = play.tick('K1', { retained: 1 });
  for (const write of ['registers', 'completes', 'retires']) {
    await coordinator.until('before registry.write');
    if (write !== 'retires') await coordinator.until('after registry.write');
  }
  const restore = play.restore('r1', oldest);
  await restore.until('in restore.begin-base');
  await restore.until('after registry.write');
  await coordinator.goOn();
  const kept = play.world.registry().complete.map(({ object }) => object);
  expect(kept).toContain(oldest);
  await play.calm();
  expect(await play.audit()).toEqual([]);
});
