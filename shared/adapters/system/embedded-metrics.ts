import type { System } from '../../ports/system.ts';
import type { Counters, LogLevel, Telemetry } from '../../ports/telemetry.ts';

/** Where the metrics of all jobs are, by `job` and `operator`. */
export const metricsNamespace = 'Holdfast';

export interface EmbeddedMetricsOptions {
  readonly job: string;
  readonly system: System;
  /** Takes one line without its end. @default standard output */
  readonly writeLine?: (line: string) => void;
}

const unitOf: Partial<Record<keyof Counters, string>> = { segmentBytes: 'Bytes' };

/**
 * Logs as JSON lines; counters in CloudWatch's embedded metric format, from which CloudWatch makes metrics without a
 * call from here.
 *
 * Format: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export function createEmbeddedMetrics(options: EmbeddedMetricsOptions): Telemetry {
  const { job, system, writeLine = writeToStandardOutput } = options;
  // Telemetry must not throw: what cannot be written is lost.
  const write = (line: Readonly<Record<string, unknown>>): void => {
    try {
      writeLine(JSON.stringify(line, replaceUnprintable));
    } catch (error) {
      writeQuietly(writeLine, { level: 'error', message: `a log line was lost: ${String(error)}` });
    }
  };

  return {
    log(level: LogLevel, message, fields) {
      const timestamp = new Date(system.now()).toISOString();
      write({ ...fields, timestamp, level, job, message });
    },

    publish(operator, counters) {
      const names = Object.keys(counters) as (keyof Counters)[];
      write({
        _aws: {
          Timestamp: system.now(),
          CloudWatchMetrics: [
            {
              Namespace: metricsNamespace,
              Dimensions: [['job', 'operator']],
              Metrics: names.map((name) => ({ Name: name, Unit: unitOf[name] ?? 'Count' })),
            },
          ],
        },
        job,
        operator,
        ...counters,
      });
    },
  };
}

// Not console.log, which Lambda's JSON log format wraps, so that CloudWatch would not see the metrics.
function writeToStandardOutput(line: string): void {
  process.stdout.write(`${line}\n`);
}

function writeQuietly(
  writeLine: (line: string) => void,
  line: Readonly<Record<string, string>>,
): void {
  try {
    writeLine(JSON.stringify(line));
  } catch {
    // The output itself is broken; there is nobody left to tell.
  }
}

function replaceUnprintable(_name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Error) return { name: value.name, message: value.message };
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  return value;
}
