import { describe, expect, it } from 'vitest';
import { channelId } from '../../../../shared/core/channel.ts';
import { readReservation } from '../../../../shared/runtime/restore/reservation.ts';
import { restoreJob } from './restore-job.ts';
import { readRowRule } from '../../../../shared/runtime/restore/sweep.ts';
import type { RestorePorts } from '../../../../shared/runtime/restore/restore-order.ts';
import { jobName } from '../job-fixture.ts';
import { createRestorableJob, type RestorableJob } from './restorable-job.ts';
import { orderOf } from './sleeping-ports.ts';
import { put, visible } from './two-halves.ts';

const reshards = {
  split: {
    shards: 1,
    apply: ({ job }: RestorableJob): void => {
      job.stream.split(job.stream.shards()[0]!.shardId);
    },
  },
  merge: {
    shards: 2,
    apply: ({ job }: RestorableJob): void => {
      const [low, high] = job.stream.shards();
      job.stream.merge(low!.shardId, high!.shardId);
    },
  },
};

type Reshard = (typeof reshards)['split'];

const deliverAll = async ({ job, deliver }: RestorableJob): Promise<void> => {
  for (const { shardId } of job.stream.shards()) await deliver(shardId);
};

const begin = async ({ shards }: Reshard): Promise<RestorableJob & { readonly object: string }> => {
  const world = await createRestorableJob({ shards });
  put(world.job, 1, 20);
  await deliverAll(world);
  const { object } = await world.checkpoint();
  put(world.job, 21, 40);
  await deliverAll(world);
  return { ...world, object };
};

const go = (world: RestorableJob, { apply }: Reshard): void => {
  apply(world);
  put(world.job, 41, 60);
};

/** The same records and the same shards in one generation. */
const straightOver = async (reshard: Reshard) => {
  const world = await begin(reshard);
  go(world, reshard);
  await deliverAll(world);
  return visible(world.job);
};

/** Does something once, right before the first call of this name. */
const before = <Name extends string>(
  port: Readonly<Record<Name, (...args: never[]) => unknown>>,
  name: Name,
  effect: () => void,
): Record<Name, never> => {
  let isDone = false;
  const wrapped = (...args: never[]): unknown => {
    if (!isDone) effect();
    isDone = true;
    return port[name](...args);
  };
  return { [name]: wrapped } as Record<Name, never>;
};

const moments: Readonly<Record<string, (ports: RestorePorts, effect: () => void) => RestorePorts>> =
  {
    'before the hold': (ports, effect) => ({
      ...ports,
      control: { ...ports.control, ...before(ports.control, 'replaceJob', effect) },
    }),
    'during the hold': (ports, effect) => ({
      ...ports,
      control: { ...ports.control, ...before(ports.control, 'fenceProgress', effect) },
    }),
    'during the load': (ports, effect) => ({
      ...ports,
      control: { ...ports.control, ...before(ports.control, 'createProgress', effect) },
    }),
    'during the replay': (ports, effect) => ({
      ...ports,
      calls: { ...ports.calls, ...before(ports.calls, 'visit', effect) },
    }),
  };

describe.each(Object.entries(reshards))('a %s', (_, reshard) => {
  it.each(Object.keys(moments))(
    '%s changes nothing of what a straight run gives',
    async (moment) => {
      const world = await begin(reshard);
      const ports = moments[moment]!(world.ports, () => {
        go(world, reshard);
      });
      const report = await restoreJob(ports, orderOf(world.object));
      expect(report).toMatchObject({ generation: 2, replayed: 20 });
      await deliverAll(world);
      expect(visible(world.job)).toEqual(await straightOver(reshard));
    },
  );

  it('between the cut and the hold leaves no row of the children that counts', async () => {
    const world = await begin(reshard);
    go(world, reshard);
    await deliverAll(world);
    const children = world.job.stream.shards().filter(({ parentIds }) => parentIds.length > 0);
    const channels = world.job.control
      .progressRows()
      .filter(({ channel }) => children.some(({ shardId }) => shardId === channel.shardId))
      .map(({ channel }) => channelId(channel));
    expect(channels.length).toBe(children.length);
    await world.restore(world.object);
    const { forks } = (await readReservation(world.ports, 2))!;
    for (const channel of channels) {
      expect(forks).toContainEqual({ channel, position: undefined });
    }
    const rule = await readRowRule(world.ports, 2);
    const position = { sequence: '1', sub: 0 };
    for (const channel of channels) {
      expect(rule({ generation: 1, channel, position })).toBe(false);
      expect(rule({ generation: 2, channel, position })).toBe(true);
    }
    expect(visible(world.job)).toEqual(await straightOver(reshard));
    // The children are where they were held, too.
    const rows = world.job.control
      .progressRows()
      .filter(({ progress }) => progress.generation === 2);
    for (const { shardId } of children) {
      const last = world.job.records(shardId).at(-1);
      if (last === undefined) continue;
      const row = rows.find(({ channel }) => channel.shardId === shardId);
      expect(row?.progress.position).toMatchObject({ sequence: last.sequence });
    }
    expect(await world.job.control.readJob(jobName)).toMatchObject({ hold: undefined });
  });

  it('after the release goes on as ever', async () => {
    const world = await begin(reshard);
    await world.restore(world.object);
    go(world, reshard);
    await deliverAll(world);
    expect(visible(world.job)).toEqual(await straightOver(reshard));
  });
});
