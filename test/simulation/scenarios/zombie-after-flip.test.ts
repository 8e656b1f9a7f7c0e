import { expect, it } from 'vitest';
import { openPlay } from './play.ts';

/*
 * An invocation of the old generation falls asleep between two keys, and wakes up when the job has gone over to the next. What
 * it still writes belongs to the old generation: were its rows to count, an event would have been counted twice (R3, R10).
 */

it.each(['state.write k1', 'sink.journal k0', 'sink.balance k1', 'progress.commit'])(
  'a zombie that wakes up after the flip, before its %s, changes nothing that counts',
  async (call) => {
    const play = await openPlay({ hasOtherLogic: true });
    play.put('k0');
    await play.read();
    const manifest = await play.checkpoint();
    play.put('k0');
    play.put('k1');
    const zombie = play.deliver('zombie', { from: 1 });
    await zombie.until(`before ${call}`);
    // Of the second event, whose row is on its way, the new code tells nothing.
    play.deploy('A');
    const restore = play.restore('r1', manifest);
    await restore.until('in restore.replay');
    // The first half of what it still does lands before the sweep, the rest behind it.
    await zombie.until(
      call === 'progress.commit' ? 'after progress.commit' : 'before sink.balance k1',
    );
    expect(await restore.goOn()).toBe('SUCCEEDED');
    await zombie.goOn();
    await play.calm();
    expect(await play.audit()).toEqual([]);
  },
);
