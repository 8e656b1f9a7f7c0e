import type { MemorySinkRow } from '../../shared/adapters/memory/memory-sink.ts';
import { pack } from '../../shared/core/pack.ts';
import { createLabStream, type LabStream } from './lab-events.ts';
import type { LabResult } from './lab-operator.ts';
import { runEvents, type KeyPolicy, type LabCheckpoint, type LabRun } from './lab-run.ts';

export interface CrashLabOptions {
  readonly checkpointEvery: number;
  readonly crashAfter: number;
  readonly key: KeyPolicy;
}

export type RunName = 'baseline' | 'at-least-once' | 'idempotent';

/** An output that is in the table more than once, with the ids that its rows have there. */
export interface Duplicate {
  readonly key: string;
  readonly ids: readonly string[];
}

/** An output as the table has it. */
export interface LabOutput extends LabResult {
  /** `<number of the event that caused it>:<end of the window>`, or `flush:<end of the window>`. */
  readonly key: string;
}

/** What one run has left. */
export interface RunReport {
  readonly run: RunName;
  /** Null where nothing crashed. */
  readonly writtenBefore: number | null;
  readonly writtenAfter: number;
  /** Outputs of the time after the crash that the sink had already. */
  readonly skippedAfter: number;
  /** Rows in the sink's table. */
  readonly total: number;
  readonly unique: number;
  readonly duplicates: number;
  readonly duplicateKeys: readonly Duplicate[];
  /** All rows, in the order of the events. */
  readonly outputs: readonly LabOutput[];
  readonly windows: Readonly<Record<string, number>>;
  /** The windows are stored as in the baseline, byte for byte. */
  readonly hasSameState: boolean;
  /** The table's rows are those of the baseline, byte for byte, their ids apart. */
  readonly hasSameRows: boolean;
}

export interface CrashLabReport extends CrashLabOptions {
  readonly events: number;
  /** What the runs went on from after their crash. */
  readonly checkpoint: LabCheckpoint;
  readonly runs: readonly RunReport[];
  /** The idempotent run has left the rows of the baseline, each once, and every run its windows. */
  readonly isExactlyOnce: boolean;
}

/**
 * Runs the lab's events three times: with no crash, and twice with one, into a sink that appends whatever it gets and into
 * one that takes each id once.
 */
export async function runCrashLab(options: CrashLabOptions): Promise<CrashLabReport> {
  const { checkpointEvery, crashAfter, key } = options;
  const stream = createLabStream();
  const always = { checkpointEvery, key };
  const baseline = await runEvents(stream, { ...always, delivery: 'exactly-once' });
  const appended = await runEvents(stream, { ...always, crashAfter, delivery: 'at-least-once' });
  const inserted = await runEvents(stream, { ...always, crashAfter, delivery: 'exactly-once' });
  const runs = [
    reportRun('baseline', stream, baseline, baseline),
    reportRun('at-least-once', stream, appended, baseline),
    reportRun('idempotent', stream, inserted, baseline),
  ];
  const idempotent = runs[2]!;
  return {
    ...options,
    events: stream.events,
    checkpoint: inserted.restored!,
    runs,
    isExactlyOnce:
      idempotent.duplicates === 0 &&
      idempotent.hasSameRows &&
      runs.every(({ hasSameState }) => hasSameState),
  };
}

function reportRun(run: RunName, stream: LabStream, made: LabRun, baseline: LabRun): RunReport {
  const rowsByKey = Map.groupBy(made.rows, (row) => outputOf(stream, row).key);
  const duplicateKeys = [...rowsByKey]
    .filter(([, rows]) => rows.length > 1)
    .map(([key, rows]) => ({ key, ids: rows.map(({ id }) => id) }));
  return {
    run,
    writtenBefore: made.before?.written ?? null,
    writtenAfter: made.after.written,
    skippedAfter: made.after.skipped,
    total: made.rows.length,
    unique: rowsByKey.size,
    duplicates: made.rows.length - rowsByKey.size,
    duplicateKeys,
    outputs: made.rows.map((row) => outputOf(stream, row)),
    windows: made.windows,
    hasSameState: areSameBytes(made.state, baseline.state),
    hasSameRows: areSameBytes(packRows(made.rows), packRows(baseline.rows)),
  };
}

function outputOf(stream: LabStream, { position, value }: MemorySinkRow): LabOutput {
  const result = value as LabResult;
  return { key: `${stream.nameOf(position)}:${result.end}`, ...result };
}

function packRows(rows: readonly MemorySinkRow[]): Uint8Array {
  return pack(rows.map(({ id: _id, ...row }) => row));
}

function areSameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
