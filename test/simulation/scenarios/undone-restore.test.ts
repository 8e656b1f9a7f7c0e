import { expect, it } from 'vitest';
import { auditUnswept } from '../system/audit-restore.ts';
import { openPlay } from './play.ts';

/*
 * A restore is undone, and so is all that its generation has told since. The code that is there by then tells less: nothing comes in
 * place of the rows that do not count any more, and who reads before they are swept must know them by the rule alone (R10).
 */

it('rows of a generation that was undone do not count, swept or not (R10)', async () => {
  const play = await openPlay({ hasOtherLogic: true });
  play.put('k0');
  play.put('k1');
  await play.read();
  const manifest = await play.checkpoint();
  play.put('k0');
  play.put('k1');
  await play.read();
  expect(await play.restore('r1', manifest).goOn()).toBe('SUCCEEDED');
  const undo = play.world.registry().complete.find(({ kind }) => kind === 'undo')!;
  play.put('k0');
  play.put('k1');
  await play.read();
  play.deploy('A');
  const back = play.restore('back', undo.object);
  await back.until('in restore.sweep');
  expect(await auditUnswept(play.world)).toEqual([]);
  expect(await back.goOn()).toBe('SUCCEEDED');
  expect(play.world.present()).toMatchObject({ generation: 3, hold: undefined });
  await play.calm();
  expect(await play.audit()).toEqual([]);
});
