import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { decodeManifest, encodeManifest } from '../../../../shared/core/manifest-codec.ts';
import type { Manifest } from '../../../../shared/core/manifest.ts';
import { defineOperator } from '../../../../shared/operator/operator.ts';
import { appendSink, upsertSink } from '../../../../shared/operator/sink.ts';
import { listState, mapState, valueState } from '../../../../shared/operator/state.ts';
import { firstShard, jobName } from '../job-fixture.ts';
import type { RestorableJob } from './restorable-job.ts';
import { half, put, straight, visible } from './two-halves.ts';

/** Nothing was held, reserved or pinned, and the job goes on as if nothing had been asked. */
const expectUntouched = async ({ job, deliver }: RestorableJob): Promise<void> => {
  expect(await job.control.readJob(jobName)).toMatchObject({
    generation: 1,
    hold: undefined,
    timeline: [],
  });
  expect(await job.control.readRegistry(jobName)).toMatchObject({ pins: [], pending: [] });
  expect(job.progress()).toMatchObject({ fence: undefined });
  put(job, 41, 50);
  await deliver(firstShard);
  expect(visible(job)).toEqual(await straight(50));
};

const replaceObject = async (
  { job }: RestorableJob,
  name: string,
  change: (bytes: Uint8Array) => Uint8Array,
): Promise<void> => {
  const bytes = (await job.objects.read(name))!;
  job.objects.lose(name);
  await job.objects.create(name, change(bytes));
};

const flipBit = (at: number) => (bytes: Uint8Array) =>
  bytes.map((byte, index) => (index === at ? byte ^ 1 : byte));

const changed = (change: Partial<Manifest>, name: string) => (bytes: Uint8Array) =>
  encodeManifest({ ...decodeManifest(bytes, name, { job: jobName }), ...change });

describe('a restore is refused before anything is held', () => {
  it.each<[string, (object: string) => (bytes: Uint8Array) => Uint8Array, RegExp]>([
    ['is cut off', () => (bytes) => bytes.subarray(0, bytes.length - 40), /manifest .* is damaged/],
    ['has a flipped bit', () => flipBit(400), /manifest .* is damaged/],
    [
      'is of a newer format',
      () => (bytes) =>
        new TextEncoder().encode(
          new TextDecoder().decode(bytes).replace(/"version": 1\b/, '"version": 2'),
        ),
      /version 2/,
    ],
    ['is of another job', (name) => changed({ job: 'other' }, name), /is one of job other/],
    [
      'has another maxParallelism',
      (name) => changed({ maxParallelism: 64 }, name),
      /the manifest has maxParallelism 64, the job has 128: deploy maxParallelism 64/,
    ],
  ])('where the manifest %s', async (_, change, message) => {
    const world = await half((one) => one.savepoint('half'));
    await replaceObject(world, world.object, change(world.object));
    await expect(world.restore(world.object)).rejects.toThrow(message);
    await expectUntouched(world);
  });

  it('where the manifest is of a stream that was created anew since', async () => {
    const world = await half((one) => one.savepoint('half'));
    await replaceObject(world, world.object, (bytes) => {
      const manifest = decodeManifest(bytes, world.object, { job: jobName });
      const channels = manifest.channels.map((cut) => ({
        ...cut,
        channel: { ...cut.channel, stream: { ...cut.channel.stream, createdAtMs: 5 } },
      }));
      return encodeManifest({ ...manifest, channels });
    });
    const refused = world.restore(world.object, { acceptsGaps: true });
    await expect(refused).rejects.toThrow("the manifest's positions are of stream events@5");
    await expectUntouched(world);
  });

  it('where there is no such manifest', async () => {
    const world = await half((one) => one.checkpoint());
    await expect(world.restore(`${world.object}x`)).rejects.toThrow('is not in the bucket; list');
    await expectUntouched(world);
  });

  it.each(['checkpoint', 'savepoint'] as const)('where files of a %s are missing', async (kind) => {
    const world = await half((one) =>
      kind === 'checkpoint' ? one.checkpoint() : one.savepoint('half'),
    );
    const files = [...world.job.objects.objects().keys()].filter((name) =>
      kind === 'checkpoint' ? name.endsWith('.seg') : name.endsWith('.run'),
    );
    world.job.objects.lose(files[0]!);
    await expect(world.restore(world.object)).rejects.toThrow(
      `file ${files[0]} is not in the bucket`,
    );
  });

  it('where a file of a savepoint has a flipped bit', async () => {
    const world = await half((one) => one.savepoint('half'));
    const name = [...world.job.objects.objects().keys()].find((one) => one.endsWith('.run'))!;
    await replaceObject(world, name, flipBit(200));
    await expect(world.restore(world.object)).rejects.toThrow(/state file .* not the checksum/);
    expect(await world.job.control.readJob(jobName)).toMatchObject({ hold: undefined });
  });

  it('with all differences between what it holds and what the code declares', async () => {
    const world = await half((one) => one.savepoint('half'));
    world.deploy(
      defineOperator({
        id: 'tally',
        schema: z.object({ user: z.string() }),
        key: ({ user }) => user,
        state: { total: mapState<number>(), more: valueState<number>() },
        sinks: {
          entries: upsertSink({ row: z.object({ total: z.number() }) }),
          totals: upsertSink({ row: z.object({ total: z.number() }) }),
        },
        process: () => undefined,
      }),
    );
    await expect(world.restore(world.object)).rejects.toThrow(
      [
        'nothing has been changed. 3 things stand against it:',
        '- state "total" of operator tally was a value state and is a map state: give the new one another name',
        '- state "notes" of operator tally is gone: declare it again, or allow non-restored state',
        '- sink "entries" of operator tally was an append sink and is an upsert sink: give the new one another name',
      ].join('\n'),
    );
    await expect(world.restore(world.object, { allowNonRestoredState: true })).rejects.toThrow(
      '2 things stand against it',
    );
    world.deploy(world.job.operator);
    await expectUntouched(world);
  });

  it('where a state has a schema version ahead of the code', async () => {
    const newer = defineOperator({
      id: 'tally',
      schema: z.object({ user: z.string(), amount: z.number() }),
      key: ({ user }) => user,
      state: { total: valueState<number>({ version: 2 }), notes: listState<string>() },
      sinks: {
        entries: appendSink({ row: z.object({ total: z.number() }) }),
        totals: upsertSink({ row: z.object({ total: z.number() }) }),
      },
      process: () => undefined,
    });
    const world = await half(async (one) => {
      one.deploy(newer);
      const made = await one.savepoint('half');
      one.deploy(one.job.operator);
      return made;
    });
    await expect(world.restore(world.object)).rejects.toThrow(
      'state "total" of operator tally has schema version 2, the code reads up to 1: deploy the code that wrote it, or newer',
    );
    await expectUntouched(world);
  });

  it('where records after the cut have left the stream, with the size of the gap', async () => {
    const world = await half((one) => one.checkpoint());
    world.job.system.advance(48 * 3_600_000);
    world.job.stream.trim(firstShard);
    await expect(world.restore(world.object)).rejects.toThrow(
      /records of shard shardId-000000000000 have left the stream after 24 h; it was read up to .*, 48 h ago: accept the gap, or take a newer manifest/,
    );
    expect(await world.job.control.readJob(jobName)).toMatchObject({ hold: undefined });
    const report = await world.restore(world.object, { acceptsGaps: true });
    expect(report).toMatchObject({ generation: 2, replayed: 0 });
  });
});
