import { expect, it } from 'vitest';
import { decodeManifest } from '../../../shared/core/manifest-codec.ts';
import { jobName } from '../engine/job.ts';
import { openPlay } from './play.ts';

/*
 * A savepoint stops the job while an invocation is at work. Its cut is where the job stands until somebody lets it go on: an attempt
 * that wakes up meanwhile moves nothing, and neither does a new one (R2, R14).
 */

it('a job that a savepoint has stopped stands where the savepoint cut it (R2, R14)', async () => {
  const play = await openPlay();
  play.put('k0');
  await play.read();
  play.put('k0', { kind: 'delete' });
  play.put('k1');
  const zombie = play.deliver('zombie', { from: 1, to: 2 });
  await zombie.until('before progress.commit');
  const savepoint = play.savepoint('s1', { stops: true });
  expect(await savepoint.goOn()).toBe('SUCCEEDED');
  expect(await zombie.goOn()).toMatch(/^handed back: .* was held by .* meanwhile/);
  play.put('k1');
  expect(await play.deliver('new', { from: 3 }).goOn()).toMatch(/^handed back: .* held by stopped/);
  const object = play.manifestOf('s1');
  const bytes = play.world.objects.objects().get(object)!;
  const { channels } = decodeManifest(bytes, object, { job: jobName });
  const { position } = play.world.control.progressRows()[0]!.progress;
  expect(channels[0]!.progress.position).toEqual(position);
  expect(await play.ask('D1', 'job.resume', {}).goOn()).toBe('done');
  await play.calm();
  expect(await play.audit()).toEqual([]);
});
