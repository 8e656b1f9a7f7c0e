import { expect, it } from 'vitest';
import { openPlay } from './play.ts';

/*
 * A shard is split while a savepoint reads progress. Its cut must not hold a child beside a parent that is not read to its end
 * (C2). A restore replays the parent from there on and begins the children anew: rows of theirs from before the restore must not
 * count beside those that the replay publishes, though the manifest knows nothing of the children (R10).
 */

it.each(['before channels.list', 'after channels.list', 'after progress.read'] as const)(
  'a split while a savepoint cuts, %s, loses and doubles nothing when it is restored',
  async (place) => {
    const play = await openPlay();
    for (const account of ['k0', 'k1', 'k2', 'k3']) play.put(account);
    await play.deliver('first', { to: 2 }).goOn();
    const savepoint = play.savepoint('s1');
    await savepoint.until(place);
    play.split(0);
    for (const account of ['k0', 'k1', 'k2', 'k3']) play.put(account);
    await play.read();
    expect(await savepoint.goOn()).toBe('SUCCEEDED');
    expect(await play.restore('r1', play.manifestOf('s1')).goOn()).toBe('SUCCEEDED');
    await play.calm();
    expect(await play.audit()).toEqual([]);
  },
);
