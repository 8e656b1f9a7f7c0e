import { describe, expect, it } from 'vitest';
import type { RestorePorts } from '../../../../shared/runtime/restore/restore-order.ts';
import { readRegistry } from '../../../../shared/runtime/checkpoint/change-registry.ts';
import { deleteOldGenerations } from '../../../../shared/runtime/restore/delete-old-generations.ts';
import { restoreJob } from './restore-job.ts';
import { firstShard, jobName, keyGroups, type Job } from '../job-fixture.ts';
import { Death, makeMortal } from './mortal-ports.ts';
import { minute } from './restorable-job.ts';
import { half, put, straight, visible } from './two-halves.ts';

const retentionMs = 3_600_000;

const keysOf = async ({ state, operator }: Job, generation: number): Promise<string[]> => {
  const keys: string[] = [];
  for (let group = 0; group < keyGroups; group += 1) {
    const scope = { job: jobName, generation, operator: operator.id };
    for await (const { key } of state.scan(scope, group)) keys.push(key);
  }
  return keys.sort();
};

/** In its third generation, for longer than old state is kept. */
const restoredTwice = async () => {
  const world = await half((one) => one.savepoint('keep'));
  const { job, object, restore } = world;
  await restore(object);
  job.system.advance(1000);
  await restore(object);
  job.system.advance(retentionMs);
  expect((await keysOf(job, 1)).length).toBe(3);
  expect((await keysOf(job, 2)).length).toBe(3);
  return world;
};

/** Records that come later have other sequence numbers than those of a straight run, in which no time passes. */
const withoutPositions = ({ entries, totals }: ReturnType<typeof visible>) => ({
  totals,
  entries: entries.map(({ key, value }) => ({ key, value })),
});
const shown = (job: Job) => withoutPositions(visible(job));
const straightShown = async () => withoutPositions(await straight(50));

const clean = (ports: RestorePorts, deadline = minute) =>
  deleteOldGenerations(ports, retentionMs, deadline);

describe('the state of generations that a job has left', () => {
  it('is deleted once it is old enough, and nothing else is', async () => {
    const { job, ports, deliver } = await restoredTwice();
    const present = await keysOf(job, 3);
    expect(await clean(ports)).toEqual({ items: 6, isDone: true, next: 3 });
    expect([await keysOf(job, 1), await keysOf(job, 2)]).toEqual([[], []]);
    expect(await keysOf(job, 3)).toEqual(present);
    expect(await clean(ports)).toEqual({ items: 0, isDone: true, next: 3 });
    put(job, 41, 50);
    await deliver(firstShard);
    expect(shown(job)).toEqual(await straightShown());
  });

  it('stays until then, each generation by itself', async () => {
    const world = await half((one) => one.savepoint('keep'));
    const { job, ports, object, restore } = world;
    expect(await clean(ports)).toMatchObject({ items: 0, next: 1 });
    await restore(object);
    job.system.advance(retentionMs - 1);
    expect(await clean(ports)).toMatchObject({ items: 0, next: 1 });
    await restore(object);
    job.system.advance(1);
    expect(await clean(ports)).toMatchObject({ items: 3, next: 2 });
    expect((await keysOf(job, 2)).length).toBe(3);
  });

  it('is deleted to its end wherever a call dies, and once more does no harm', async () => {
    for (let diesAt = 1; ; diesAt += 7) {
      const { job, ports } = await restoredTwice();
      const mortal = makeMortal(ports, diesAt, diesAt % 2 === 0 ? 'before' : 'after');
      const died = await clean(mortal.ports).then(
        () => false,
        (thrown: unknown) => {
          if (thrown instanceof Death) return true;
          throw thrown;
        },
      );
      expect(await clean(ports), `died at call ${diesAt}`).toMatchObject({ isDone: true, next: 3 });
      expect([await keysOf(job, 1), await keysOf(job, 2)]).toEqual([[], []]);
      expect((await keysOf(job, 3)).length).toBe(3);
      if (!died) break;
    }
  });

  it('is deleted a little with each call, which goes on where the last one ended', async () => {
    const { job, ports } = await restoredTwice();
    let calls = 0;
    for (let isDone = false; !isDone; calls += 1) {
      let looks = 0;
      const short = { remainingMs: () => ((looks += 1) > 3 ? 0 : 60_000) };
      const before = (await readRegistry(ports)).cleanup;
      ({ isDone } = await clean(ports, short));
      if (!isDone) expect((await readRegistry(ports)).cleanup).not.toEqual(before);
    }
    expect(calls).toBeGreaterThan(2);
    expect([await keysOf(job, 1), await keysOf(job, 2)]).toEqual([[], []]);
  });

  it('is not begun again by a call that wakes up when all is done', async () => {
    const { ports } = await restoredTwice();
    const bed = Promise.withResolvers<void>();
    let removals = 0;
    const remove: RestorePorts['state']['remove'] = async (...args) => {
      if ((removals += 1) === 1) await bed.promise;
      return ports.state.remove(...args);
    };
    let looks = 0;
    const short = { remainingMs: () => ((looks += 1) > 1 ? 0 : 60_000) };
    const late = clean({ ...ports, state: { ...ports.state, remove } }, short);
    expect(await clean(ports)).toMatchObject({ isDone: true, next: 3 });
    bed.resolve();
    await late;
    expect((await readRegistry(ports)).cleanup).toEqual({ generation: 3, operator: '', group: 0 });
  });

  it('is left alone while the job is held', async () => {
    const { job, ports } = await restoredTwice();
    const there = (await job.control.readJob(jobName))!;
    const hold = {
      ...{ id: 'h', owner: 'r', sinceMs: 0, isFlipped: false, undo: undefined },
      kind: 'restore' as const,
    };
    await job.control.replaceJob({ ...there, version: there.version + 1, hold }, there.version);
    expect(await clean(ports)).toMatchObject({ items: 0, next: 1 });
  });

  it('is left alone while whoever reserved it is at work', async () => {
    const { job, ports } = await restoredTwice();
    const registry = await readRegistry(ports);
    const { object } = registry.complete[0]!;
    // The first restore has made generation 2.
    const pin = { object, id: 'r1', owner: 'restore r1', sinceMs: 0 };
    const next = { ...registry, version: registry.version + 1, pins: [pin] };
    await job.control.writeRegistry(jobName, next);
    expect(await clean(ports)).toMatchObject({ items: 3, next: 2 });
    expect((await keysOf(job, 2)).length).toBe(3);
  });

  it('is of no use to a restore that goes back to that very generation meanwhile', async () => {
    for (let at = 1; at <= 100; at += 6) {
      const { job, ports, deliver } = await restoredTwice();
      const undo = (await readRegistry(ports)).complete.find(
        ({ kind, generation }) => kind === 'undo' && generation === 1,
      )!;
      let calls = 0;
      const beside = async (): Promise<void> => {
        calls += 1;
        if (calls === at) await clean(ports);
      };
      const watched = new Proxy(ports.control, {
        get(target, name, receiver) {
          const member: unknown = Reflect.get(target, name, receiver);
          if (typeof member !== 'function') return member;
          return async (...args: unknown[]): Promise<unknown> => {
            await beside();
            return Reflect.apply(member, target, args) as unknown;
          };
        },
      });
      const order = {
        ...{ restore: 'back', manifest: undo.object, areTablesLost: false },
        ...{ allowNonRestoredState: false, acceptsGaps: false },
      };
      expect(await restoreJob({ ...ports, control: watched }, order)).toMatchObject({
        generation: 4,
        keys: 3,
      });
      expect(visible(job), `beside call ${at}`).toEqual(await straight(40));
      put(job, 41, 50);
      await deliver(firstShard);
      expect(shown(job), `beside call ${at}`).toEqual(await straightShown());
      if (calls < at) break;
    }
  });
});
