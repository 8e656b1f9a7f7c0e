import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { unpack } from '../../../../shared/core/pack.ts';
import { defineOperator } from '../../../../shared/operator/operator.ts';
import { appendSink, upsertSink } from '../../../../shared/operator/sink.ts';
import { listState, valueState } from '../../../../shared/operator/state.ts';
import { readRowRule } from '../../../../shared/runtime/restore/sweep.ts';
import { firstShard, jobName } from '../job-fixture.ts';
import { tally } from '../tally.ts';
import { restoreJob } from './restore-job.ts';
import type { RestorableJob } from './restorable-job.ts';
import { half, put, straight, visible } from './two-halves.ts';

describe.each([
  ['a checkpoint', (world: RestorableJob) => world.checkpoint()],
  ['a savepoint', (world: RestorableJob) => world.savepoint('half')],
])('a restore from %s', (_, make) => {
  it('gives what a straight run gives, and goes on', async () => {
    const { job, object, restore, deliver } = await half(make);
    const before = visible(job);
    expect(before).toEqual(await straight(40));
    const report = await restore(object);
    expect(report).toMatchObject({ generation: 2, keys: 3, replayed: 20, removedRows: 0 });
    expect(visible(job)).toEqual(before);
    expect(await job.control.readJob(jobName)).toMatchObject({ generation: 2, hold: undefined });
    put(job, 41, 50);
    await deliver(firstShard);
    expect(visible(job)).toEqual(await straight(50));
    expect(job.progress()).toMatchObject({ generation: 1 });
  });

  it('rewrites every row of the abandoned time under the new generation', async () => {
    const { job, object, restore, ports } = await half(make);
    await restore(object);
    const rule = await readRowRule(ports, 2);
    const rows = [...job.tables.entries.rows(), ...job.tables.totals.rows()];
    for (const { source, position } of rows) expect(rule({ ...source, position })).toBe(true);
    const generations = job.tables.entries.rows().map(({ source }) => source.generation);
    expect(generations.filter((generation) => generation === 1).length).toBeGreaterThan(0);
    expect(generations.filter((generation) => generation === 2).length).toBeGreaterThan(0);
  });

  it('with other logic leaves nothing of the abandoned time visible', async () => {
    const { job, object, restore, deploy } = await half(make);
    // Keeps nothing of whoever comes after the cut.
    deploy(
      tally((event) => {
        if (event.amount > 20 && event.user !== 'ann') throw new Error('not any more');
      }),
    );
    const at = await straight(20);
    await restore(object, {});
    const after = visible(job);
    expect(after.entries.filter(({ key }) => key !== 'ann')).toEqual(
      at.entries.filter(({ key }) => key !== 'ann'),
    );
    expect(after.totals['bob']).toBe(at.totals['bob']);
    expect(after.totals['cid']).toBe(at.totals['cid']);
    expect(job.deadLetters().length).toBeGreaterThan(at.deadLetters.length);
  });

  it('is undone by a restore to its undo point', async () => {
    const { job, object, restore, deploy, deliver } = await half(make);
    const before = visible(job);
    const original = job.operator;
    deploy(
      tally((event) => {
        if (event.amount > 20 && event.user !== 'ann') throw new Error('not any more');
      }),
    );
    const { undo } = await restore(object);
    expect(visible(job)).not.toEqual(before);
    deploy(original);
    const report = await restore(undo!);
    expect(report).toMatchObject({ generation: 3 });
    expect(visible(job)).toEqual(before);
    put(job, 41, 50);
    await deliver(firstShard);
    expect(visible(job)).toEqual(await straight(50));
  });
});

describe('state that the deployed code does not declare', () => {
  it('is left behind where that is allowed', async () => {
    const world = await half((one) => one.savepoint('half'));
    const fewer = defineOperator({
      id: 'tally',
      schema: z.object({ user: z.string(), amount: z.number() }),
      key: ({ user }) => user,
      state: { total: valueState<number>() },
      sinks: {
        entries: appendSink({ row: z.object({ total: z.number(), note: z.string() }) }),
        totals: upsertSink({ row: z.object({ total: z.number() }) }),
      },
      process: ({ amount }, { state }) => {
        state.total.set((state.total.get() ?? 0) + amount);
      },
    });
    world.deploy(fewer);
    await world.restore(world.object, { allowNonRestoredState: true });
    const states = (generation: number): string[] => {
      const rows = world.job.state.rows();
      const row = rows.find(
        ({ scope, item }) => scope.generation === generation && item.key === 'ann',
      )!;
      return Object.keys(unpack(row.item.states!) as object);
    };
    expect(states(1)).toEqual(['total', 'notes']);
    expect(states(2)).toEqual(['total']);
  });

  it('as a sink that is gone: its rows are neither swept nor brought back, and all others are', async () => {
    const world = await half((one) => one.checkpoint());
    const { undo } = await world.restore(world.object);
    world.deploy(
      defineOperator({
        id: 'tally',
        schema: z.object({ user: z.string(), amount: z.number() }),
        key: ({ user }) => user,
        state: { total: valueState<number>(), notes: listState<string>() },
        sinks: { totals: upsertSink({ row: z.object({ total: z.number() }) }) },
        process: () => undefined,
      }),
    );
    const ports = {
      ...world.ports,
      sinks: world.ports.sinks.filter(({ name }) => name !== 'entries'),
    };
    const order = { restore: 'back', manifest: undo!, acceptsGaps: false, areTablesLost: false };
    await expect(restoreJob(ports, { ...order, allowNonRestoredState: false })).rejects.toThrow(
      'sink "entries" of operator tally is gone, so that its void rows would stay and none be brought back: deploy it again, or allow',
    );
    await restoreJob(ports, { ...order, allowNonRestoredState: true });
    const whole = await straight(40);
    const { totals, deadLetters, entries } = visible(world.job);
    expect({ totals, deadLetters }).toEqual({
      totals: whole.totals,
      deadLetters: whole.deadLetters,
    });
    expect(entries).toEqual(whole.entries);
    expect(await world.job.control.readJob(jobName)).toMatchObject({ hold: undefined });
  });
});
