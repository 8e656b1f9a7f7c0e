import { afterAll, describe, expect, it } from 'vitest';
import { createMemoryTelemetry } from '../../../shared/adapters/memory/memory-telemetry.ts';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';
import { processBatch } from '../../../shared/runtime/process-batch.ts';
import type { OperatorRuntime } from '../../../shared/runtime/operator-runtime.ts';
import { historyOf, readFinalTables } from './final-tables.ts';
import { add, createInput, expectAccounts, remove, type Line } from './input.ts';
import { interleave } from './interleave.ts';
import { deliverAll, openRuntime } from './ledger-job.ts';
import { startLocalStores } from './local-stores.ts';
import { startWalking, type CommitStep, type Walker } from './turnstile.ts';

/** Before the two meet. */
const before: readonly Line[] = [add('anna', 1), remove('bert', 2)];
/** What both of them have. */
const shared: readonly Line[] = [
  remove('anna', 3),
  { account: 'cleo', id: 4, kind: 'bulky' },
  add('bert', 5),
  add('anna', 6),
  { account: 'dora', garbageBytes: 20 },
  remove('cleo', 8),
];
const input = createInput([...before, ...shared]);

const stores = await startLocalStores();
const straightJob = await stores.createJob();
await deliverAll(openRuntime(straightJob, input), input, 3);
const expected = await readFinalTables(stores, straightJob, input);

afterAll(() => stores.stop());

interface Encounter {
  readonly name: string;
  /** Records in the batch of the zombie, which knows the channel well, and of the retry, which does not. */
  readonly zombie: number;
  readonly retry: number;
  /** Outputs and segment have no order (P1): which one goes first here. */
  readonly first: 'outputs' | 'segment';
}

const encounters: readonly Encounter[] = [
  { name: 'the same cut', zombie: 6, retry: 6, first: 'outputs' },
  { name: 'a shorter retry', zombie: 6, retry: 2, first: 'segment' },
  { name: 'a longer retry', zombie: 3, retry: 6, first: 'outputs' },
];

describe('a zombie and its retry, whose commits meet', () => {
  it('a straight run does what its input says', () => {
    for (const [account, { state, journal, deadLetters }] of expectAccounts([
      ...before,
      ...shared,
    ])) {
      expect(historyOf(expected.states[account])).toBe(state);
      const rows = expected.journal.filter(({ pk }) => pk?.S === account);
      expect(rows.map((row) => row['history']?.S)).toEqual(journal);
      const letters = expected.deadLetters.filter((row) => row['partitionKey']?.S === account);
      expect(letters).toHaveLength(deadLetters);
    }
  });

  it.for(encounters)('in any of 70 orders of their steps, with $name', async (encounter) => {
    const orders = interleave(4);
    expect(orders).toHaveLength(70);
    const telemetry = createMemoryTelemetry();
    for (const order of orders) {
      const jobId = await stores.createJob();
      await meet(jobId, encounter, order, telemetry);
      const tables = await readFinalTables(stores, jobId, input);
      expect(tables, `order ${order.join('')}`).toEqual(expected);
    }
    // Else they have not met.
    const { keysReran, progressConflicts, outputsSkipped } = telemetry.total();
    expect(keysReran).toBeGreaterThan(0);
    expect(progressConflicts).toBeGreaterThan(0);
    expect(outputsSkipped).toBeGreaterThan(0);
  });
});

async function meet(
  jobId: string,
  { zombie, retry, first }: Encounter,
  order: readonly ('a' | 'b')[],
  telemetry: Telemetry,
): Promise<void> {
  const warm = openRuntime(jobId, input, telemetry);
  const cold = openRuntime(jobId, input, telemetry);
  await deliver(warm, 0, before.length);
  const walkers = {
    a: startWalking(warm, (runtime) => deliver(runtime, before.length, zombie)),
    b: startWalking(cold, (runtime) => deliver(runtime, before.length, retry)),
  };
  await Promise.all([walkers.a.arrived, walkers.b.arrived]);
  for (const turn of order) await walkOn(walkers[turn], first);
  // Whoever lost has more to do than four steps.
  for (const walker of [walkers.a, walkers.b]) {
    while (!walker.isOver()) await walkOn(walker, first);
    await walker.outcome;
  }
  await deliverAll(openRuntime(jobId, input), input, 4, before.length);
}

async function deliver(runtime: OperatorRuntime, from: number, count: number): Promise<void> {
  const records = input.records.slice(from, from + count);
  await processBatch(runtime, input.shardId, records, { remainingMs: () => 60_000 });
}

async function walkOn(walker: Walker, first: Encounter['first']): Promise<void> {
  if (walker.isOver()) return;
  const waiting = walker.waiting();
  const step: CommitStep | undefined = waiting.includes(first) ? first : waiting[0];
  if (step !== undefined) await walker.pass(step);
}
