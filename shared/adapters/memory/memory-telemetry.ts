import {
  zeroCounters,
  type Counters,
  type LogLevel,
  type Telemetry,
} from '../../ports/telemetry.ts';

export interface MemoryLogLine {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface MemoryTelemetry extends Telemetry {
  readonly lines: readonly MemoryLogLine[];
  /** The counters of all invocations of an operator, or of all operators, added up. */
  total(operator?: string): Counters;
}

/** Collects what the runtime says. */
export function createMemoryTelemetry(): MemoryTelemetry {
  const lines: MemoryLogLine[] = [];
  const totals = new Map<string, Counters>();

  return {
    lines,
    log(level, message, fields = {}) {
      lines.push({ level, message, fields: { ...fields } });
    },
    publish(operator, counters) {
      let total = totals.get(operator);
      if (total === undefined) totals.set(operator, (total = zeroCounters()));
      addCounters(total, counters);
    },
    total(operator) {
      const sum = zeroCounters();
      for (const [name, counters] of totals) {
        if (operator === undefined || operator === name) addCounters(sum, counters);
      }
      return sum;
    },
  };
}

function addCounters(sum: Counters, counters: Readonly<Counters>): void {
  for (const name of Object.keys(counters) as (keyof Counters)[]) sum[name] += counters[name];
}
