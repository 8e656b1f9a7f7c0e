import { expect, it } from 'vitest';
import { openPlay } from './play.ts';

/*
 * The trigger delivers a child shard while its parent is not read to its end, and an invocation of the parent is still at work.
 * Whoever begins the child at once applies a key's later events before the earlier ones (P9).
 */

it('a child shard that comes first waits for its parent, whoever reads that to its end (P9)', async () => {
  const play = await openPlay();
  for (const account of ['k0', 'k1', 'k2', 'k3']) play.put(account);
  const parent = play.deliver('parent', { to: 3 });
  await parent.until('before state.write k1');
  play.split(0);
  for (const account of ['k0', 'k1', 'k2', 'k3']) play.put(account);
  const children = [play.deliver('low', { shard: 1 }), play.deliver('high', { shard: 2 })];
  // Each finds the parent unfinished; one of them dies while it reads it.
  await children[0]!.until('before progress.commit');
  await children[0]!.die();
  await children[1]!.until('before progress.bear');
  await parent.goOn();
  await children[1]!.goOn();
  for (const shard of [0, 1, 2]) await play.redeliver({ shard });
  await play.calm();
  expect(await play.audit()).toEqual([]);
});
