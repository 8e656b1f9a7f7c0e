import { expect, it } from 'vitest';
import { decodeManifest } from '../../../shared/core/manifest-codec.ts';
import { jobName } from '../engine/job.ts';
import { openPlay } from './play.ts';

/*
 * Two coordinators are at work at once: the tick before has not ended, or a schedule has fired twice. They make one checkpoint
 * where one is due; and where both write its manifest, what the registry says is what stands in S3 (C4).
 */

it('two coordinators at once trigger one checkpoint (C4)', async () => {
  const play = await openPlay();
  play.put('k0');
  await play.read();
  const [one, two] = [play.tick('K1'), play.tick('K2')];
  await one.until('before registry.write');
  await two.until('before registry.write');
  expect([await one.goOn(), await two.goOn()]).toEqual(['done', 'done']);
  expect(play.world.registry().complete.map(({ number }) => number)).toEqual([1]);
  await play.calm();
  expect(await play.audit()).toEqual([]);
});

it('two coordinators that cut the same checkpoint at different moments complete the one that stands (C4)', async () => {
  const play = await openPlay();
  play.put('k0');
  await play.read();
  const early = play.tick('early');
  await early.until('before object.create 000000000001.json');
  play.put('k1');
  await play.read();
  const late = play.tick('late');
  await late.until('after object.create 000000000001.json');
  expect(await early.goOn()).toBe('done');
  expect(await late.goOn()).toBe('done');
  const [checkpoint] = play.world.registry().complete;
  const bytes = play.world.objects.objects().get(checkpoint!.object)!;
  const { totalBytes } = decodeManifest(bytes, checkpoint!.object, { job: jobName });
  expect(checkpoint).toMatchObject({ number: 1, bytes: totalBytes });
  await play.calm();
  expect(await play.audit()).toEqual([]);
});
