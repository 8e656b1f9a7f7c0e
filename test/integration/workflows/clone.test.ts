import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLedgerAws, type LedgerAws, type Prefix, type VisibleRows } from './ledger-aws.ts';
import { runHoldfastOn, type HoldfastRun } from './run-holdfast.ts';

let ledger: LedgerAws;

beforeAll(async () => {
  ledger = await startLedgerAws({ hasTwin: true });
});

afterAll(async () => {
  await ledger?.stop();
});

const first = (...args: string[]): Promise<HoldfastRun> => runHoldfastOn(ledger, '', ...args);
const twin = (...args: string[]): Promise<HoldfastRun> => runHoldfastOn(ledger, 'Twin', ...args);

const read = ({ code, out, err }: HoldfastRun): Record<string, unknown> => {
  expect(code, err).toBe(0);
  return JSON.parse(out) as Record<string, unknown>;
};

/** What a clone from a cut behind event `cut` has at event `to`: views whole, appended rows behind the cut. */
const behind = (cut: number, to: number): VisibleRows => {
  const [all, before] = [ledger.expected(to), ledger.expected(cut)];
  return {
    journal: all.journal.filter((row) => !before.journal.includes(row)),
    balance: all.balance,
    deadLetters: all.deadLetters.filter((row) => !before.deadLetters.includes(row)),
  };
};

const put = async (from: number, to: number, ...jobs: Prefix[]): Promise<void> => {
  await ledger.put(from, to);
  for (const prefix of jobs) await ledger.whenDone(prefix);
};

/* Two jobs on one stream; each test goes on where the one before it has left them. */
describe('a clone on the embedded AWS', () => {
  it('is deployed closed, and opened by nothing else', async () => {
    await put(1, 40, '');
    expect(await ledger.visible()).toEqual(ledger.expected(40));
    expect(await ledger.visible('Twin')).toEqual({ journal: [], balance: [], deadLetters: [] });
    const resumed = await twin('resume');
    expect(resumed).toMatchObject({ code: 1 });
    expect(resumed.err).toContain('was deployed as a clone of ledger and has not begun');
    const early = await twin('savepoint', 'create', 'early');
    expect(early).toMatchObject({ code: 1 });
    expect(early.err).toContain('job ledger-b has not begun');
    const none = await twin('clone', '--yes');
    expect(none).toMatchObject({ code: 1 });
    expect(none.err).toContain('job ledger has no manifest "latest"');
  });

  it('begins while processes of both are killed, and the other job goes on', async () => {
    read(await first('savepoint', 'create', 'cut', '--json'));
    await put(41, 80, '');
    const asked = await twin('clone', 'cut');
    expect(asked).toMatchObject({ code: 1 });
    expect(asked.err).toContain('This lets job ledger-b begin as a clone of job ledger');
    ledger.aws.chaos.change({ killDuringInvocation: { probability: 0.3, atMost: 8 } });
    const cloning = twin('clone', 'cut', '--yes', '--json');
    await put(81, 100, '');
    const cloned = await cloning;
    ledger.aws.chaos.change({});
    expect(read(cloned)).toMatchObject({ generation: 2, keys: 5, undo: '', unswept: [] });
    expect(cloned.err).toMatch(/clone of +ledger\n *from +savepoint cut/);
    expect(cloned.err).toContain('Copy the files');
    expect(ledger.aws.chaos.counts().killDuringInvocation).toBeGreaterThan(0);
    await put(101, 120, '', 'Twin');
    expect(await ledger.visible()).toEqual(ledger.expected(120));
    expect(await ledger.visible('Twin')).toEqual(behind(40, 120));
    // The other job is where it was: in its first generation, never held, and nothing is pinned there.
    expect(read(await first('generations', 'list', '--json'))).toMatchObject([
      { generation: 1, state: 'present' },
    ]);
  });

  it('is a job of its own from then on', async () => {
    const again = await twin('clone', '--yes');
    expect(again).toMatchObject({ code: 1 });
    expect(again.err).toContain('job ledger-b has begun, it is in generation 2');
    // Nothing of it is made of the other job's files any more.
    expect(await first('savepoint', 'delete', 'cut', '--yes')).toMatchObject({ code: 0 });
    const [, second] = read(await twin('generations', 'list', '--json')) as unknown as {
      manifest: string;
    }[];
    read(await twin('savepoint', 'create', 'own', '--json'));
    await put(121, 140, '', 'Twin');
    const back = read(await twin('restore', second!.manifest, '--yes', '--json'));
    expect(back).toMatchObject({ generation: 3, keys: 5 });
    await put(141, 160, '', 'Twin');
    expect(await ledger.visible()).toEqual(ledger.expected(160));
    expect(await ledger.visible('Twin')).toEqual(behind(40, 160));
  });
});
