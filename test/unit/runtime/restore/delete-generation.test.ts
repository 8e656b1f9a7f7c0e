import { describe, expect, it } from 'vitest';
import { createMemoryHintStore } from '../../../../shared/adapters/memory/memory-hint-store.ts';
import { identifyKey } from '../../../../shared/core/channel.ts';
import { keyGroupOf } from '../../../../shared/core/key-group.ts';
import { hintPartitionOf, hintPartitions } from '../../../../shared/ports/hint-store.ts';
import { deleteDrill, reserveForDrill } from '../../../../shared/runtime/restore/drill-job.ts';
import { deleteGeneration } from '../../../../shared/runtime/restore/delete-generation.ts';
import { firstShard, jobName, keyGroups } from '../job-fixture.ts';
import { createRestorableJob, minute } from './restorable-job.ts';
import { put } from './two-halves.ts';

const wholeRange = { from: '0'.repeat(32), to: 'f'.repeat(32) };

/** A job in generation 1 with an item of generation 2 that waits for a timer. */
const withLoadedItem = async () => {
  const world = await createRestorableJob();
  put(world.job, 1, 20);
  await world.deliver(firstShard);
  const ports = { ...world.ports, hints: createMemoryHintStore() };
  const scope = { job: jobName, generation: 2, operator: world.job.operator.id };
  const { hash: keyHash } = identifyKey('ann');
  const hint = { domain: 'event' as const, time: 1_000, key: 'ann', keyHash };
  const [known] = await Promise.all([
    ports.state.load({ ...scope, generation: 1 }, [
      { key: 'ann', keyGroup: keyGroupOf(keyHash, keyGroups) },
    ]),
    ports.hints.insert(scope, [hint]),
  ]);
  const timers = [{ domain: hint.domain, time: hint.time, name: 't' }];
  const item = { ...known.get('ann')!, timers };
  await ports.state.write(scope, [{ item, expectedVersion: undefined }]);
  const remaining = async () => {
    let items = 0;
    let hints = 0;
    for (let group = 0; group < keyGroups; group += 1) {
      for await (const _ of ports.state.scan(scope, group)) items += 1;
    }
    for (let partition = 0; partition < hintPartitions; partition += 1) {
      const { due } = await ports.hints.findDue(scope, partition, 'event', 1e12, wholeRange);
      hints += due.length;
    }
    return { items, hints };
  };
  expect(await remaining()).toEqual({ items: 1, hints: 1 });
  expect(hintPartitionOf(keyHash)).toBeLessThan(hintPartitions);
  return { ...world, ports, remaining };
};

describe('deleting a generation', () => {
  it('takes its items, and the hints of their timers', async () => {
    const { ports, remaining } = await withLoadedItem();
    expect(await deleteGeneration(ports, 2, minute)).toEqual({ items: 1, next: undefined });
    expect(await remaining()).toEqual({ items: 0, hints: 0 });
  });

  it('goes on where the time ended', async () => {
    const { ports, remaining } = await withLoadedItem();
    let calls = 0;
    const short = { remainingMs: () => ((calls += 1) > 2 ? 0 : 60_000) };
    const first = await deleteGeneration(ports, 2, short);
    expect(first.next).toMatchObject({ group: 2 });
    const second = await deleteGeneration(ports, 2, minute, first.next);
    expect(first.items + second.items).toBe(1);
    expect(await remaining()).toEqual({ items: 0, hints: 0 });
  });

  it('is refused for the one that the job is in', async () => {
    const { ports } = await withLoadedItem();
    await expect(deleteGeneration(ports, 1, minute)).rejects.toThrow('is in generation 1');
  });

  it('of a drill is refused for any but its own', async () => {
    const { ports, checkpoint, remaining } = await withLoadedItem();
    const { object } = await checkpoint();
    const { generation } = await reserveForDrill(ports, { restore: 'd', manifest: object }, 'base');
    expect(generation).toBe(2);
    await expect(deleteDrill(ports, { restore: 'e', generation }, minute)).rejects.toThrow(
      'generation 2 belongs to d, not to drill e',
    );
    await expect(deleteDrill(ports, { restore: 'd', generation: 1 }, minute)).rejects.toThrow(
      'is in generation 1',
    );
    await deleteDrill(ports, { restore: 'd', generation }, minute);
    expect(await remaining()).toEqual({ items: 0, hints: 0 });
  });
});
