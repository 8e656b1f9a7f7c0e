import { expect, it } from 'vitest';
import { openPlay } from './play.ts';

/*
 * A savepoint is deleted from which the present generation was made. Its manifest says from where on rows of that generation
 * count (R10): without it no later restore knows its way.
 */

it('a deleted savepoint leaves its manifest to the generation that was made from it (R10)', async () => {
  const play = await openPlay();
  play.put('k0');
  await play.read();
  expect(await play.savepoint('s1').goOn()).toBe('SUCCEEDED');
  play.put('k0');
  await play.read();
  expect(await play.restore('r1', play.manifestOf('s1')).goOn()).toBe('SUCCEEDED');
  // Its files are merged into others, and what has listed them is retired.
  for (let round = 1; round <= 3; round += 1) {
    await play.tick(`K${round}`, { retained: 1, mergeAfter: 1 }).goOn();
  }
  expect(await play.ask('D1', 'savepoint.delete', { label: 's1' }).goOn()).toBe('done');
  expect(await play.collect('G1').goOn()).toBe('done');
  const manifest = await play.checkpoint();
  play.put('k1');
  await play.read();
  expect(await play.restore('r2', manifest).goOn()).toBe('SUCCEEDED');
  await play.calm();
  expect(await play.audit()).toEqual([]);
});
