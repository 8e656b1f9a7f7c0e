import { afterAll, describe, expect, it } from 'vitest';
import { historyOf, readFinalTables, readStateItems } from './final-tables.ts';
import { createInput, expectAccounts, ledgerLines } from './input.ts';
import { killAtStep, type Moment } from './kill-at-step.ts';
import { deliverAll, openRuntime } from './ledger-job.ts';
import { startLocalStores } from './local-stores.ts';
import { breedVictims } from './victim.ts';
import { recordSteps, stepKinds, type StepKind, type WriteStep } from './write-steps.ts';

const input = createInput(ledgerLines);

/** Records in a batch of the process that is killed, and in those of the next one. */
const batchRecords = 7;
const retryCuts = { same: 7, shorter: 3, longer: ledgerLines.length } as const;
type RetryCut = keyof typeof retryCuts;

// The tests are made of what a run without a crash writes, so that none can miss a step that is added later.
const stores = await startLocalStores();
const steps: WriteStep[] = [];
const straightJob = await stores.createJob();
stores.watch(straightJob, recordSteps(steps));
await deliverAll(openRuntime(straightJob, input), input, batchRecords);
stores.watch(straightJob, undefined);
const expected = await readFinalTables(stores, straightJob, input);

/** What is written around a unit, and not in each. */
const besideUnits: ReadonlySet<StepKind> = new Set(['birth', 'suspicion', 'tombstones']);
/** P1; outputs have no order among themselves. */
const unitOrder =
  /^(spilled emissions, )*states, ((segment|append rows|view rows \w+|dead letter data|dead letters), )+progress$/;

const victims = breedVictims(stores.variables, 2);

afterAll(async () => {
  await victims.stop();
  await stores.stop();
});

describe('without a crash', () => {
  it('every kind of write happens, in several units', () => {
    expect(new Set(steps.map(({ kind }) => kind))).toEqual(new Set(stepKinds));
    expect(steps.filter(({ kind }) => kind === 'progress').length).toBeGreaterThanOrEqual(3);
  });

  it('each unit writes spilled emissions, states, outputs and progress in this order', () => {
    for (const unit of Map.groupBy(steps, (step) => step.unit).values()) {
      const kinds = unit.map(({ kind }) => kind).filter((kind) => !besideUnits.has(kind));
      if (kinds.length > 0) expect(kinds.join(', ')).toMatch(unitOrder);
    }
  });

  it('the tables say what the input says', () => {
    const { states, journal, balance, deadLetters, changelog, ahead, progress } = expected;
    for (const [account, { state, journal: rows, deadLetters: bad }] of expectAccounts(
      ledgerLines,
    )) {
      expect(historyOf(states[account])).toBe(state);
      expect(historyOf(changelog[account])).toBe(state);
      const journalRows = journal.filter(({ pk }) => pk?.S === account);
      expect(journalRows.map((row) => row['history']?.S)).toEqual(rows);
      const view = balance.find(({ pk }) => pk?.S === account);
      expect(view?.['history']?.S).toBe(state);
      expect(view?.['_deleted']?.BOOL).toBe(
        rows.length > 0 && state === undefined ? true : undefined,
      );
      const letters = deadLetters.filter(({ partitionKey }) => partitionKey?.S === account);
      expect(letters).toHaveLength(bad);
    }
    expect(Object.keys(expected.deadLetterObjects)).toHaveLength(1);
    expect(ahead).toEqual([]);
    expect(progress.aheadMax).toBeUndefined();
  });

  it.for(Object.entries(retryCuts))('the cut makes no difference: %s', async ([, cut]) => {
    const jobId = await stores.createJob();
    await deliverAll(openRuntime(jobId, input), input, cut);
    expect(await readFinalTables(stores, jobId, input)).toEqual(expected);
  });
});

interface CrashCase {
  readonly step: WriteStep;
  readonly moment: Moment;
  readonly cut: RetryCut;
}

describe('a SIGKILL', () => {
  it.concurrent.for(listCases())(
    '$moment $step.kind $step.number, then $cut batches',
    async (crash) => {
      const jobId = await stores.createJob();
      const victim = await victims.take();
      stores.watch(
        jobId,
        killAtStep(crash.step, crash.moment, steps, () => victim.kill()),
      );
      victim.deliver({ jobId, batchRecords });
      expect(await victim.ended).toBe('SIGKILL');
      stores.watch(jobId, undefined);

      await deliverAll(openRuntime(jobId, input), input, retryCuts[crash.cut]);
      expect(await readFinalTables(stores, jobId, input)).toEqual(expected);
      await expectLawfulExpiry(jobId);
    },
  );
});

/**
 * Every moment of every step, with the cuts in turn; with HOLDFAST_CRASH_CUTS=all every moment with every cut, which
 * takes three times as long.
 */
function listCases(): CrashCase[] {
  const cuts = Object.keys(retryCuts) as RetryCut[];
  const moments = steps.flatMap((step) => {
    const all: Moment[] = step.parts > 1 ? ['before', 'midway', 'after'] : ['before', 'after'];
    return all.map((moment) => ({ step, moment }));
  });
  if (process.env['HOLDFAST_CRASH_CUTS'] === 'all') {
    return moments.flatMap((at) => cuts.map((cut) => ({ ...at, cut })));
  }
  return moments.map((at, index) => ({ ...at, cut: cuts[index % cuts.length]! }));
}

async function expectLawfulExpiry(jobId: string): Promise<void> {
  for (const item of await readStateItems(stores, jobId)) {
    if (item['ttl'] === undefined) continue;
    expect(item['d']?.BOOL).toBe(true);
    expect(Number(item['ttl'].N)).toBe(Math.ceil(Number(item['a']?.N) / 1000) + 2 * 24 * 3600);
  }
}
