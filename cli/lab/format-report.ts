import { styleText } from 'node:util';
import type { CrashLabReport, Duplicate, RunName, RunReport } from './crash-lab.ts';
import { windowMs } from './lab-operator.ts';

/** The report for people; colours appear on terminals only. */
export function formatReport(report: CrashLabReport): string {
  const { events, checkpointEvery, crashAfter, runs } = report;
  return [
    `${events} events in windows of ${windowMs} ms, a checkpoint every ${checkpointEvery}, a crash after event ${crashAfter}`,
    describeCheckpoint(report),
    '',
    ...formatTable(
      ['run', 'written before crash', 'written after', 'total', 'unique', 'duplicates'],
      runs.map((run) => [
        titleOf(run.run, report),
        String(run.writtenBefore ?? '–'),
        run.writtenAfter + inBrackets(run.skippedAfter, () => `${run.skippedAfter} skipped`),
        String(run.total),
        String(run.unique),
        run.duplicates +
          inBrackets(run.duplicates, () => run.duplicateKeys.map(({ key }) => key).join(', ')),
      ]),
    ),
    '',
    ...formatTable(
      ['output', 'sum', 'watermark', 'kind'],
      baselineOf(runs).outputs.map(({ key, sum, watermark, kind }) => [
        key,
        String(sum),
        String(watermark),
        kind,
      ]),
    ),
    '',
    ...describeWindows(runs),
    '',
    ...describeVerdict(report),
  ].join('\n');
}

function describeCheckpoint({ checkpoint }: CrashLabReport): string {
  const { afterEvent, watermark, windows } = checkpoint;
  if (afterEvent === 0) return 'restored: nothing, there was no checkpoint yet';
  return `restored: the checkpoint after event ${afterEvent}, windows ${JSON.stringify(windows)}, watermark ${watermark}`;
}

function titleOf(run: RunName, { crashAfter, key }: CrashLabReport): string {
  const crash = `crash after event ${crashAfter}`;
  switch (run) {
    case 'baseline':
      return 'baseline, no crash';
    case 'at-least-once':
      return `${crash}, at-least-once append`;
    case 'idempotent':
      return `${crash}, idempotent append${key === 'deterministic' ? '' : ` by ${key} key`}`;
  }
}

function inBrackets(count: number, describe: () => string): string {
  return count === 0 ? '' : ` (${describe()})`;
}

function describeWindows(runs: readonly RunReport[]): string[] {
  if (runs.every(({ hasSameState }) => hasSameState)) {
    const windows = JSON.stringify(baselineOf(runs).windows);
    return [`final windows: ${windows}, the same bytes in every run`];
  }
  return runs.map(({ run, windows }) => `final windows, ${run}: ${JSON.stringify(windows)}`);
}

function describeVerdict(report: CrashLabReport): string[] {
  const [baseline, appended, idempotent] = report.runs as [RunReport, RunReport, RunReport];
  if (report.isExactlyOnce) {
    const text = `EXACTLY ONCE: the ${baseline.total} rows of the idempotent run equal the baseline's.`;
    return [styleText('green', text, { stream: process.stdout }), explainRepeat(report, appended)];
  }
  const { duplicates } = idempotent;
  const text =
    duplicates === 0
      ? 'DIFFERENT: the runs do not end in the same rows and windows.'
      : `NOT EXACTLY ONCE: the idempotent run has ${duplicates} ${duplicates === 1 ? 'row' : 'rows'} too many.`;
  const reasons = report.key === 'processing-time' ? explainClock(idempotent.duplicateKeys) : [];
  return [styleText('red', text, { stream: process.stdout }), ...reasons];
}

/** What became of the outputs between the checkpoint and the crash. */
function explainRepeat({ checkpoint, crashAfter }: CrashLabReport, appended: RunReport): string {
  const first = checkpoint.afterEvent + 1;
  if (first > crashAfter) {
    return 'The crash came right after a checkpoint: nothing was repeated, and nothing could double.';
  }
  const repeated =
    first === crashAfter
      ? `Event ${first} was repeated.`
      : `Events ${first} to ${crashAfter} were repeated.`;
  return appended.duplicates === 0
    ? `${repeated} No output had come of that, so nothing could double.`
    : `${repeated} Outputs that came again had the ids that they had before: the idempotent sink skipped them, the other one has them twice.`;
}

function explainClock(duplicates: readonly Duplicate[]): string[] {
  return [
    'The time of writing is part of the key, and events that are repeated are written at another time:',
    ...duplicates.map(({ key, ids }) => `  ${key} at ${ids.map(timeOf).join(' and at ')}`),
    'To the sink these are new outputs. Make a key of where an output comes from, never of when it was made.',
  ];
}

function timeOf(id: string): string {
  return id.slice(id.lastIndexOf('@') + 1);
}

function baselineOf(runs: readonly RunReport[]): RunReport {
  return runs.find(({ run }) => run === 'baseline')!;
}

/** Aligned columns: numbers to the right, words to the left. */
function formatTable(titles: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const columns = titles.map((title, at) => {
    const cells = rows.map((row) => row[at]!);
    return {
      width: Math.max(title.length, ...cells.map((cell) => cell.length)),
      isNumeric: cells.every((cell) => /^[\d–]+$/.test(cell)),
    };
  });
  return [titles, ...rows].map((row) =>
    columns
      .map(({ width, isNumeric }, at) =>
        isNumeric ? row[at]!.padStart(width) : row[at]!.padEnd(width),
      )
      .join('  ')
      .trimEnd(),
  );
}
