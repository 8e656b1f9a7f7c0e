import { expect, it } from 'vitest';
import { openPlay } from './play.ts';

/*
 * Two collections of garbage are at work. The second has read the registry, then a checkpoint is retired, and the first one deletes
 * its manifest: it is missing for the second, which must not take that for damage and must delete nothing (C7).
 */

it('a collection that finds a manifest gone which another has collected says conflict, not corrupt (C7)', async () => {
  const play = await openPlay();
  play.put('k0');
  await play.read();
  await play.checkpoint();
  const second = play.collect('second');
  await second.until('after registry.read');
  play.put('k1');
  await play.read();
  await play.checkpoint();
  expect(await play.tick('K1', { retained: 1 }).goOn()).toBe('done');
  expect(await play.collect('first').goOn()).toBe('done');
  const before = [...play.world.objects.objects().keys()];
  expect(await second.goOn()).toMatch(/has gone while garbage .* another collection is at work/);
  expect([...play.world.objects.objects().keys()]).toEqual(before);
  await play.calm();
  expect(await play.audit()).toEqual([]);
});
