import type { CheckpointFigures, CheckpointMetrics } from '../../ports/checkpoint-metrics.ts';
import type { System } from '../../ports/system.ts';
import { metricsNamespace } from './embedded-metrics.ts';

export interface EmbeddedCheckpointMetricsOptions {
  readonly job: string;
  readonly system: System;
  /** Takes one line without its end. @default standard output */
  readonly writeLine?: (line: string) => void;
}

const units: Readonly<Record<keyof CheckpointFigures, string>> = {
  checkpointsCompleted: 'Count',
  checkpointFailures: 'Count',
  checkpointAgeMs: 'Milliseconds',
  checkpointDurationMs: 'Milliseconds',
  checkpointBytes: 'Bytes',
};

/** Figures of checkpoints in CloudWatch's embedded metric format, by `job`. What is undefined is left out. */
export function createEmbeddedCheckpointMetrics({
  job,
  system,
  writeLine = (line) => process.stdout.write(`${line}\n`),
}: EmbeddedCheckpointMetricsOptions): CheckpointMetrics {
  return {
    publish(figures) {
      const names = (Object.keys(units) as (keyof CheckpointFigures)[]).filter(
        (name) => figures[name] !== undefined,
      );
      const line = {
        _aws: {
          Timestamp: system.now(),
          CloudWatchMetrics: [
            {
              Namespace: metricsNamespace,
              Dimensions: [['job']],
              Metrics: names.map((name) => ({ Name: name, Unit: units[name] })),
            },
          ],
        },
        job,
        ...Object.fromEntries(names.map((name) => [name, figures[name]])),
      };
      try {
        writeLine(JSON.stringify(line));
      } catch {
        // The output itself is broken; there is nobody left to tell.
      }
    },
  };
}
