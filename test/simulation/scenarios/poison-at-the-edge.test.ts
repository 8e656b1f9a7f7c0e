import { expect, it } from 'vitest';
import { openPlay } from './play.ts';

/*
 * A record that cannot be processed is the last one of a unit. Its verdict is an output of its key like any other: published by
 * nobody before the cut has come to it, by somebody when whoever found it has died, and never twice (P3, P15).
 */

it('garbage at the end of a unit whose attempt dies is a dead letter once, and when its turn comes (P3, P15)', async () => {
  const play = await openPlay();
  play.put('k1');
  play.put('k0');
  play.putMessage('k1', 'garbage');
  play.put('k1');
  const doomed = play.deliver('doomed', { to: 3, unit: 3 });
  await doomed.until('after state.write k1');
  await doomed.die();
  const { deadLetters } = play.world.sinks;
  await play.redeliver({ to: 1 });
  expect(deadLetters.rows()).toHaveLength(0);
  await play.redeliver({ unit: 2 });
  expect(deadLetters.rows()).toHaveLength(1);
  await play.calm();
  expect(await play.audit()).toEqual([]);
});

it('a record that throws at the end of a unit takes no neighbour with it (P15)', async () => {
  const play = await openPlay();
  play.put('k0');
  play.put('k1', { kind: 'throw' });
  play.put('k0');
  play.put('k1');
  const zombie = play.deliver('zombie', { unit: 4 });
  await zombie.until('before state.load');
  await play.redeliver({ unit: 2 });
  await zombie.goOn();
  expect(play.world.sinks.deadLetters.rows()).toHaveLength(1);
  await play.calm();
  expect(await play.audit()).toEqual([]);
});
