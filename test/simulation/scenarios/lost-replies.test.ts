import { expect, it } from 'vitest';
import { openPlay } from './play.ts';

/*
 * A write has its effect and its reply is lost. Whoever takes that for a refusal does it twice: an event is applied to a state
 * that has it already (P5), and a restore that has flipped makes another generation, or waits for a hold that is its own (R1, R5).
 */

it('a lost reply of a state write is followed by a retry that sees its own write (P5)', async () => {
  const play = await openPlay();
  play.put('k0');
  play.put('k0', { kind: 'delete' });
  play.put('k1');
  const unlucky = play.deliver('unlucky');
  unlucky.loseReplyOf('state.write k0');
  unlucky.loseReplyOf('state.write k1');
  unlucky.loseReplyOf('progress.commit');
  expect(await unlucky.goOn()).toBe('done');
  await play.calm();
  expect(await play.audit()).toEqual([]);
});

it('a restore whose replies are lost finds its own hold and its own flip (R1, R5)', async () => {
  const play = await openPlay();
  play.put('k0');
  await play.read();
  const manifest = await play.checkpoint();
  play.put('k0');
  await play.read();
  const restore = play.restore('r1', manifest);
  for (const step of ['take-hold', 'write-undo', 'flip', 'release']) {
    await restore.until(`in restore.${step}`);
    restore.loseReplyOf('job.replace');
  }
  expect(await restore.goOn()).toBe('SUCCEEDED');
  expect(play.world.present()).toMatchObject({
    ...{ generation: 2, hold: undefined },
    timeline: [{ generation: 2, parent: 1 }],
  });
  await play.calm();
  expect(await play.audit()).toEqual([]);
});
