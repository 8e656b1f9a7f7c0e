import { beforeAll, describe, expect, it } from 'vitest';
import { runCrashLab, type CrashLabReport } from '../../../cli/lab/crash-lab.ts';
import { createLabStream, type LabStream } from '../../../cli/lab/lab-events.ts';
import { copyStores, createLabStores } from '../../../cli/lab/lab-job.ts';
import { runEvents, type LabRun } from '../../../cli/lab/lab-run.ts';
import { pack } from '../../../shared/core/pack.ts';
import { makeHint } from '../../contract/hint-store.contract.ts';
import { makeItem } from '../../contract/state-store.contract.ts';

const defaults = { checkpointEvery: 8, crashAfter: 14, key: 'deterministic' } as const;

/** The numbers of a report as its table has them. */
function tableOf({ runs }: CrashLabReport) {
  return runs.map((one) => ({
    run: one.run,
    before: one.writtenBefore,
    after: one.writtenAfter,
    skipped: one.skippedAfter,
    total: one.total,
    unique: one.unique,
    duplicates: one.duplicates,
  }));
}

function keysOf(outputs: readonly { readonly key: string }[]): string[] {
  return outputs.map(({ key }) => key);
}

describe('the crash lab', () => {
  let report: CrashLabReport;

  beforeAll(async () => {
    report = await runCrashLab(defaults);
  });

  it('doubles an output where the sink appends, and none where it takes each id once', () => {
    expect(tableOf(report)).toEqual([
      { run: 'baseline', before: null, after: 4, skipped: 0, total: 4, unique: 4, duplicates: 0 },
      {
        run: 'at-least-once',
        before: 1,
        after: 4,
        skipped: 0,
        total: 5,
        unique: 4,
        duplicates: 1,
      },
      { run: 'idempotent', before: 1, after: 3, skipped: 1, total: 4, unique: 4, duplicates: 0 },
    ]);
    expect(report.runs.map(({ duplicateKeys }) => keysOf(duplicateKeys))).toEqual([
      [],
      ['13:10'],
      [],
    ]);
    expect(report.isExactlyOnce).toBe(true);
  });

  it('has the four outputs of the events in the idempotent run as in the baseline', () => {
    const [baseline, appended, idempotent] = report.runs;
    expect(baseline!.outputs).toEqual([
      { key: '13:10', end: 10, sum: 55, watermark: 10, kind: 'fire' },
      { key: '24:20', end: 20, sum: 138, watermark: 21, kind: 'fire' },
      { key: '25:20', end: 20, sum: 155, watermark: 21, kind: 'late-update' },
      { key: 'flush:30', end: 30, sum: 255, watermark: 24, kind: 'flush' },
    ]);
    expect(idempotent!.outputs).toEqual(baseline!.outputs);
    expect(keysOf(appended!.outputs)).toEqual(['13:10', '13:10', '24:20', '25:20', 'flush:30']);
  });

  it('goes on from what the checkpoint of event 8 holds', () => {
    expect(report.checkpoint).toEqual({ afterEvent: 8, watermark: 4, windows: { 10: 40 } });
  });

  it('ends with the same windows in every run, byte for byte', () => {
    for (const { windows, hasSameState } of report.runs) {
      expect(windows).toEqual({ 10: 55, 20: 155, 30: 255 });
      expect(hasSameState).toBe(true);
    }
  });

  it('writes copies under ids that are the same, where they are deterministic', () => {
    const { ids } = report.runs[1]!.duplicateKeys[0]!;
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
  });

  it('doubles an output in the idempotent run, too, where the clock is part of its id', async () => {
    const clocked = await runCrashLab({ ...defaults, key: 'processing-time' });
    const [, appended, idempotent] = clocked.runs;
    expect(idempotent).toMatchObject({ writtenBefore: 1, writtenAfter: 4, skippedAfter: 0 });
    expect(idempotent).toMatchObject({ total: 5, unique: 4, duplicates: 1 });
    expect(keysOf(idempotent!.duplicateKeys)).toEqual(keysOf(appended!.duplicateKeys));
    expect(new Set(idempotent!.duplicateKeys[0]!.ids).size).toBe(2);
    expect(clocked.runs.map(({ hasSameState }) => hasSameState)).toEqual([true, true, true]);
    expect(clocked.isExactlyOnce).toBe(false);
  });

  it('puts all stores into a checkpoint, even what one key alone does not need', async () => {
    const scope = { job: 'crash-lab', generation: 1, operator: 'crash-lab' };
    const stores = await createLabStores();
    await stores.hints.insert(scope, [makeHint()]);
    await stores.objects.create('segment', new Uint8Array([1]));
    await stores.state.write(scope, [{ item: makeItem(), expectedVersion: undefined }]);
    const copy = copyStores(stores);
    expect(copy.hints.hints()).toEqual([makeHint()]);
    expect(copy.objects.objects()).toEqual(stores.objects.objects());
    expect(copy.state.rows()).toEqual(stores.state.rows());
    expect(await copy.control.readJob('crash-lab')).toMatchObject({ status: 'running' });
  });

  it('doubles nothing where the crash comes right after a checkpoint', async () => {
    const exact = await runCrashLab({ checkpointEvery: 7, crashAfter: 14, key: 'processing-time' });
    expect(exact.checkpoint.afterEvent).toBe(14);
    expect(exact.runs.map(({ duplicates }) => duplicates)).toEqual([0, 0, 0]);
    expect(exact.isExactlyOnce).toBe(true);
  });

  it('starts over where there was no checkpoint', async () => {
    const fresh = await runCrashLab({ ...defaults, checkpointEvery: 30, crashAfter: 26 });
    expect(fresh.checkpoint).toEqual({ afterEvent: 0, watermark: null, windows: {} });
    expect(fresh.runs.map(({ duplicates }) => duplicates)).toEqual([0, 3, 0]);
    expect(fresh.runs[2]).toMatchObject({ writtenBefore: 3, writtenAfter: 1, skippedAfter: 3 });
    expect(fresh.isExactlyOnce).toBe(true);
  });
});

describe('the crash lab, whatever its checkpoints and its crash', () => {
  const crashes = Array.from({ length: 30 }, (_, at) => at + 1);
  const intervals = Array.from({ length: 10 }, (_, at) => at + 1);
  let stream: LabStream;
  let baseline: LabRun;

  beforeAll(async () => {
    stream = createLabStream();
    baseline = await runEvents(stream, {
      checkpointEvery: 8,
      delivery: 'exactly-once',
      key: 'deterministic',
    });
  });

  const positions = (rows: LabRun['rows']): string[] => rows.map(({ order }) => order);

  it.each(intervals)('has the right rows for a checkpoint every %i', async (checkpointEvery) => {
    for (const crashAfter of crashes) {
      const options = { checkpointEvery, crashAfter, key: 'deterministic' } as const;
      const when = JSON.stringify(options);
      const checkpoint = crashAfter - (crashAfter % checkpointEvery);
      const repeated = baseline.rows.filter(({ position }) => {
        const number = stream.numberOf(position);
        return number > checkpoint && number <= crashAfter;
      });

      const inserted = await runEvents(stream, { ...options, delivery: 'exactly-once' });
      expect(Buffer.compare(pack(inserted.rows), pack(baseline.rows)), when).toBe(0);
      expect(Buffer.compare(inserted.state, baseline.state), when).toBe(0);
      expect(inserted.after.skipped, when).toBe(repeated.length);
      expect(inserted.restored?.afterEvent, when).toBe(checkpoint);

      const appended = await runEvents(stream, { ...options, delivery: 'at-least-once' });
      const all = positions([...baseline.rows, ...repeated]).sort();
      expect(positions(appended.rows), when).toEqual(all);
      expect(Buffer.compare(appended.state, baseline.state), when).toBe(0);
    }
  });

  it('repeats outputs in some of these cases', async () => {
    const counts = new Set<number>();
    for (const crashAfter of [12, 14, 24, 25, 30]) {
      const options = { checkpointEvery: 20, crashAfter, key: 'deterministic' } as const;
      const { after } = await runEvents(stream, { ...options, delivery: 'exactly-once' });
      counts.add(after.skipped);
    }
    expect([...counts].sort()).toEqual([0, 1, 2]);
  });
});
