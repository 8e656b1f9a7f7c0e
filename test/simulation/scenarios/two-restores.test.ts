import { beforeEach, expect, it } from 'vitest';
import { openPlay, type Play } from './play.ts';

/*
 * Two restores of one job, by two people or by one who has lost patience. One hold slot decides (R1): what has not flipped is left
 * alone; what has flipped can be taken over, and what it still owed is owed by whoever has taken it.
 */

let play: Play;
let manifest: string;

/** Of the first restore. */
const undoPoint = (): string =>
  play.world.registry().complete.find(({ kind }) => kind === 'undo')!.object;

beforeEach(async () => {
  play = await openPlay();
  play.put('k0');
  play.put('k1');
  await play.read();
  manifest = await play.checkpoint();
  play.put('k0', { kind: 'delete' });
  play.put('k1');
  await play.read();
});

it('two restores at once: the second is told who holds, and the first goes on (R1)', async () => {
  const first = play.restore('r1', manifest);
  await first.until('in restore.load');
  expect(await play.restore('r2', manifest).goOn()).toMatch(/is held by restore r1 since/);
  expect(await first.goOn()).toBe('SUCCEEDED');
  expect(play.world.present()).toMatchObject({ generation: 2, hold: undefined });
  await play.calm();
  expect(await play.audit()).toEqual([]);
});

it('the second restore takes over what the first has flipped and not brought to its end (R1, R10)', async () => {
  const first = play.restore('r1', manifest);
  await first.until('in restore.replay');
  expect(await play.restore('r2', manifest).goOn()).toBe('SUCCEEDED');
  expect(await first.goOn()).toMatch(/^FAILED/);
  expect(await play.restore('again', manifest, { goesOnWith: 'r1' }).goOn()).toMatch(
    /restore r1 has made generation 2, and job model has gone over to generation 3 since/,
  );
  expect(play.world.present()).toMatchObject({ generation: 3, hold: undefined });
  await play.calm();
  expect(await play.audit()).toEqual([]);
});

it('the second restore, to where the first had flipped to, brings back what that one still owed (R10)', async () => {
  expect(await play.restore('r1', manifest).goOn()).toBe('SUCCEEDED');
  const back = play.restore('back', undoPoint());
  await back.until('in restore.replay');
  const again = play.restore('again', manifest);
  await again.until('in restore.load');
  const { hold } = play.world.present();
  expect(hold).toMatchObject({ owner: 'again', before: { owner: 'back', isFlipped: true } });
  await play.abort('A1').goOn();
  expect(await play.restore('forth', hold!.undo!).goOn()).toBe('SUCCEEDED');
  expect(await again.goOn()).toMatch(/^FAILED: .* is over/);
  expect(await back.goOn()).toMatch(/^FAILED/);
  await play.calm();
  expect(await play.audit()).toEqual([]);
});

it('the second restore gives back what it has taken over, and the first goes on (R1)', async () => {
  const first = play.restore('r1', manifest);
  await first.until('in restore.replay');
  const second = play.restore('r2', manifest);
  await second.until('in restore.load');
  expect(await play.restore('too-early', manifest, { goesOnWith: 'r1' }).goOn()).toMatch(
    /restore r1 is taken over by restore r2/,
  );
  expect(await play.abort('A1').goOn()).toBe('done');
  expect(play.world.present().hold).toMatchObject({ owner: 'r1', isFlipped: true });
  const again = play.restore('again', manifest, { goesOnWith: 'r1' });
  expect(await again.goOn()).toBe('SUCCEEDED');
  expect(await second.goOn()).toMatch(/^FAILED/);
  expect(play.world.present()).toMatchObject({ generation: 2, hold: undefined });
  await play.calm();
  expect(await play.audit()).toEqual([]);
});

it('a sweep of the first restore that is late leaves alone what the second has made (R10)', async () => {
  const first = play.restore('r1', manifest);
  await first.until('in restore.sweep');
  expect(await play.restore('r2', manifest).goOn()).toBe('SUCCEEDED');
  await first.goOn();
  await play.calm();
  expect(await play.audit()).toEqual([]);
});

it('a restore that was aborted is made again under its name, from where the job is by then (R2, R4)', async () => {
  const late = play.restore('r1', manifest);
  await late.until('in restore.load');
  expect(await play.abort('A1').goOn()).toBe('done');
  play.split(0);
  play.put('k0');
  play.put('k1');
  await play.read();
  const again = play.restore('again', manifest, { goesOnWith: 'r1' });
  expect(await again.goOn()).toBe('SUCCEEDED');
  expect(await late.goOn()).toMatch(/^FAILED/);
  expect(play.world.present()).toMatchObject({ generation: 3, hold: undefined });
  const undo = play.world.registry().complete.findLast(({ kind }) => kind === 'undo')!;
  expect(await play.restore('undo', undo.object).goOn()).toBe('SUCCEEDED');
  await play.calm();
  expect(await play.audit()).toEqual([]);
});

it('restores go back to the same place as often as they like (R10)', async () => {
  expect(await play.restore('r1', manifest).goOn()).toBe('SUCCEEDED');
  for (const name of ['undo-1', 'undo-2', 'undo-3']) {
    play.put('k0');
    await play.read();
    expect(await play.restore(name, undoPoint()).goOn()).toBe('SUCCEEDED');
  }
  expect(play.world.present().generation).toBe(5);
  await play.calm();
  expect(await play.audit()).toEqual([]);
});

it('a restore gets back what one between had brought back, too (R10)', async () => {
  expect(await play.restore('r1', manifest).goOn()).toBe('SUCCEEDED');
  expect(await play.restore('back', undoPoint()).goOn()).toBe('SUCCEEDED');
  const third = await play.checkpoint();
  expect(await play.restore('back-again', undoPoint()).goOn()).toBe('SUCCEEDED');
  expect(await play.restore('forth', third).goOn()).toBe('SUCCEEDED');
  expect(play.world.present().generation).toBe(5);
  await play.calm();
  expect(await play.audit()).toEqual([]);
});
