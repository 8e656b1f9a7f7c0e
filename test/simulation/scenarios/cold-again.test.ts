import { expect, it } from 'vitest';
import { openPlay } from './play.ts';

/*
 * An environment has states in its cache, and somebody else goes on with the channel. When the next batch comes to it, it is cold
 * again: only who made the last commit itself may trust what it remembers (P8).
 */

it('a warm environment forgets its keys once somebody else has committed (P8)', async () => {
  const play = await openPlay();
  play.put('k0');
  play.put('k1');
  const [early, later] = [{ environment: 'early' }, { environment: 'later' }];
  expect(await play.deliver('first', { ...early, to: 2 }).goOn()).toBe('done');
  play.put('k0', { kind: 'delete' });
  play.put('k1');
  expect(await play.deliver('second', { ...later, from: 2, to: 4 }).goOn()).toBe('done');
  play.put('k0');
  play.put('k1');
  expect(await play.deliver('third', { ...early, from: 4, to: 6 }).goOn()).toBe('done');
  await play.calm();
  expect(await play.audit()).toEqual([]);
});
