import { zeroCounters, type Counters } from '../../shared/ports/telemetry.ts';

/** Adds up the counters that functions print as CloudWatch metrics; those of a killed invocation are lost with it. */
export interface FunctionMetrics {
  /** Takes one line of a function's output. */
  readLine(line: string): void;
  readonly totals: Readonly<Counters>;
}

export function createFunctionMetrics(): FunctionMetrics {
  const totals = zeroCounters();
  return {
    totals,
    readLine(line) {
      const start = line.indexOf('{');
      if (start < 0 || !line.includes('"CloudWatchMetrics"')) return;
      const metrics = JSON.parse(line.slice(start)) as Record<string, unknown>;
      for (const name of Object.keys(totals) as (keyof Counters)[]) {
        const value = metrics[name];
        if (typeof value === 'number') totals[name] += value;
      }
    },
  };
}
