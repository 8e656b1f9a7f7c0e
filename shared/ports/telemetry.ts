/** What happened in an invocation, as counters; names are those of the metrics. */
export interface Counters {
  records: number;
  recordsSkipped: number;
  units: number;
  keysWritten: number;
  keysLoaded: number;
  keysReran: number;
  cacheHits: number;
  outputsWritten: number;
  outputsSkipped: number;
  deadLetters: number;
  segmentBytes: number;
  progressConflicts: number;
  catchUpRecords: number;
  timersFired: number;
  /** Calls in operators of what differs from run to run. */
  nonDeterministicCalls: number;
}

export function zeroCounters(): Counters {
  return {
    records: 0,
    recordsSkipped: 0,
    units: 0,
    keysWritten: 0,
    keysLoaded: 0,
    keysReran: 0,
    cacheHits: 0,
    outputsWritten: 0,
    outputsSkipped: 0,
    deadLetters: 0,
    segmentBytes: 0,
    progressConflicts: 0,
    catchUpRecords: 0,
    timersFired: 0,
    nonDeterministicCalls: 0,
  };
}

export type LogLevel = 'info' | 'warn' | 'error';

/** Where the runtime says what happened. Must not throw. */
export interface Telemetry {
  log(level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Once for each invocation. */
  publish(operator: string, counters: Readonly<Counters>): void;
}
