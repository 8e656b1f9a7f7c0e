import { describe, expect, it } from 'vitest';
import { createMemorySystem } from '../../../../shared/adapters/memory/memory-system.ts';
import { createEmbeddedCheckpointMetrics } from '../../../../shared/adapters/system/embedded-checkpoint-metrics.ts';
import type { CheckpointFigures } from '../../../../shared/ports/checkpoint-metrics.ts';

const figures: CheckpointFigures = {
  checkpointsCompleted: 1,
  checkpointFailures: 0,
  checkpointAgeMs: 250,
  checkpointDurationMs: 120,
  checkpointBytes: 4_096,
};

function publish(some: CheckpointFigures): Record<string, unknown> {
  const lines: string[] = [];
  const metrics = createEmbeddedCheckpointMetrics({
    job: 'flights',
    system: createMemorySystem({ startMs: 1_000 }),
    writeLine: (line) => void lines.push(line),
  });
  metrics.publish(some);
  expect(lines).toHaveLength(1);
  return JSON.parse(lines[0]!) as Record<string, unknown>;
}

describe('figures of checkpoints as embedded metrics', () => {
  it('are one line, by job', () => {
    expect(publish(figures)).toEqual({
      _aws: {
        Timestamp: 1_000,
        CloudWatchMetrics: [
          {
            Namespace: 'Holdfast',
            Dimensions: [['job']],
            Metrics: [
              { Name: 'checkpointsCompleted', Unit: 'Count' },
              { Name: 'checkpointFailures', Unit: 'Count' },
              { Name: 'checkpointAgeMs', Unit: 'Milliseconds' },
              { Name: 'checkpointDurationMs', Unit: 'Milliseconds' },
              { Name: 'checkpointBytes', Unit: 'Bytes' },
            ],
          },
        ],
      },
      job: 'flights',
      ...figures,
    });
  });

  it('leave out what there is not', () => {
    const line = publish({ ...figures, checkpointAgeMs: undefined, checkpointBytes: undefined });
    expect(JSON.stringify(line)).not.toMatch(/checkpointAgeMs|checkpointBytes/);
  });

  it('never throw', () => {
    const metrics = createEmbeddedCheckpointMetrics({
      job: 'flights',
      system: createMemorySystem(),
      writeLine: () => {
        throw new Error('the output is closed');
      },
    });
    expect(() => metrics.publish(figures)).not.toThrow();
  });
});
