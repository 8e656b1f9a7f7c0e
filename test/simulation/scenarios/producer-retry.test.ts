import { expect, it } from 'vitest';
import { openPlay } from './play.ts';

/*
 * A producer does not hear of its first record, goes on, and puts it again: the stream has it twice, the second time behind younger
 * ones. Both are records, in the order of the stream: what orders them is the position, not what they say (P6), and an older event
 * takes no time back that a timer has fired by (P11).
 */

it("a producer's retry that reorders is applied where it lies, whoever cuts how (P6, P11)", async () => {
  const play = await openPlay();
  play.put('k0', { id: 1, at: 100 });
  play.put('k0', { id: 2, at: 110, timer: { name: 'one', time: 109, domain: 'event' } });
  play.put('k1', { id: 3, at: 112 });
  play.put('k0', { id: 1, at: 100, timer: { name: 'two', time: 108, domain: 'event' } });
  play.put('k1', { id: 4, at: 104 });
  const doomed = play.deliver('doomed', { to: 4 });
  await doomed.until('after state.write k0');
  await doomed.die();
  await play.redeliver({ to: 2, unit: 1 });
  const zombie = play.deliver('zombie', { from: 1 });
  await zombie.until('before progress.commit');
  await play.redeliver({ unit: 2 });
  await zombie.goOn();
  await play.calm();
  expect(await play.audit()).toEqual([]);
});
