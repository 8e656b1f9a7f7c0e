import { describe, expect, it } from 'vitest';

import { createMemorySystem } from '../../../../shared/adapters/memory/memory-system.ts';
import { pauseAfter, retry } from '../../../../shared/adapters/system/backoff.ts';
import { createEmbeddedMetrics } from '../../../../shared/adapters/system/embedded-metrics.ts';
import { nodeSystem } from '../../../../shared/adapters/system/node-system.ts';
import type { System } from '../../../../shared/ports/system.ts';
import { zeroCounters } from '../../../../shared/ports/telemetry.ts';

describe.each<[string, () => System]>([
  ['of the process', () => nodeSystem],
  ['in memory', () => createMemorySystem()],
])('system %s', (_title, open) => {
  it('gives ids of 128 bits that differ', () => {
    const system = open();
    const ids = Array.from({ length: 200 }, () => system.randomId());
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(new Set(ids).size).toBe(200);
  });

  it('gives versions that are whole numbers below 2^40', () => {
    const system = open();
    const versions = Array.from({ length: 200 }, () => system.randomVersion());
    for (const version of versions) {
      expect(Number.isInteger(version)).toBe(true);
      expect(version).toBeGreaterThanOrEqual(0);
      expect(version).toBeLessThan(2 ** 40);
    }
    expect(Math.max(...versions)).toBeGreaterThan(2 ** 38);
  });

  it('has a clock in ms that goes on while one sleeps', async () => {
    const system = open();
    const before = system.now();
    expect(before).toBeGreaterThan(Date.UTC(2024, 0, 1));
    await system.sleep(5);
    expect(system.now()).toBeGreaterThan(before);
  });
});

describe('retry', () => {
  const policy = { attemptsMax: 4, firstPauseMs: 100, pauseMsMax: 150 };

  it('returns the first result', async () => {
    let attempts = 0;
    const attempt = async (): Promise<string> => {
      attempts += 1;
      if (attempts < 3) throw new Error('not yet');
      return 'done';
    };
    expect(await retry(createMemorySystem(), attempt, () => true, policy)).toBe('done');
    expect(attempts).toBe(3);
  });

  it('throws the last error where the attempts are used up', async () => {
    let attempts = 0;
    const attempt = async (): Promise<never> => {
      attempts += 1;
      throw new Error(`attempt ${attempts}`);
    };
    const run = retry(createMemorySystem(), attempt, () => true, policy);
    await expect(run).rejects.toThrow('attempt 4');
  });

  it('throws at once what is not worth another attempt', async () => {
    let attempts = 0;
    const attempt = async (): Promise<never> => {
      attempts += 1;
      throw new Error('no');
    };
    await expect(retry(createMemorySystem(), attempt, () => false, policy)).rejects.toThrow('no');
    expect(attempts).toBe(1);
  });

  it('pauses for a random part of a bound that doubles up to a limit', async () => {
    const pauses: number[] = [];
    const system: System = {
      ...createMemorySystem(),
      randomVersion: () => 2 ** 38,
      sleep: async (ms) => {
        pauses.push(ms);
      },
    };
    for (const attempt of [0, 1, 5]) await pauseAfter(system, attempt, policy);
    expect(pauses).toEqual([25, 37.5, 37.5]);
  });
});

describe('embedded metrics', () => {
  const open = () => {
    const lines: string[] = [];
    const system = createMemorySystem({ startMs: 1_735_689_600_000 });
    const writeLine = (line: string): void => {
      lines.push(line);
    };
    return { telemetry: createEmbeddedMetrics({ job: 'flights', system, writeLine }), lines };
  };
  const parse = (line: string | undefined): Record<string, unknown> =>
    JSON.parse(line ?? '{}') as Record<string, unknown>;

  it('write the counters of an invocation as one line that CloudWatch makes metrics of', () => {
    const { telemetry, lines } = open();
    telemetry.publish('delays', { ...zeroCounters(), records: 12, segmentBytes: 3_400 });
    expect(lines).toHaveLength(1);
    const line = parse(lines[0]);
    expect(line).toMatchObject({ job: 'flights', operator: 'delays', records: 12, units: 0 });
    const { Timestamp, CloudWatchMetrics } = line['_aws'] as {
      Timestamp: number;
      CloudWatchMetrics: {
        Namespace: string;
        Dimensions: string[][];
        Metrics: { Name: string; Unit: string }[];
      }[];
    };
    expect(Timestamp).toBe(1_735_689_600_000);
    expect(CloudWatchMetrics).toHaveLength(1);
    const [{ Namespace, Dimensions, Metrics }] = CloudWatchMetrics as [
      (typeof CloudWatchMetrics)[0],
    ];
    expect(Namespace).toBe('Holdfast');
    expect(Dimensions).toEqual([['job', 'operator']]);
    expect(Metrics.map(({ Name }) => Name)).toEqual(Object.keys(zeroCounters()));
    expect(Metrics.find(({ Name }) => Name === 'segmentBytes')?.Unit).toBe('Bytes');
    expect(Metrics.find(({ Name }) => Name === 'records')?.Unit).toBe('Count');
    // Every metric and dimension that is announced is there.
    for (const name of [...Dimensions[0]!, ...Metrics.map(({ Name }) => Name)]) {
      expect(line).toHaveProperty(name);
    }
  });

  it('write log lines with time, level, job and fields', () => {
    const { telemetry, lines } = open();
    telemetry.log('warn', 'it is late', { channel: 'c', lagMs: 5 });
    expect(parse(lines[0])).toEqual({
      timestamp: '2025-01-01T00:00:00.000Z',
      level: 'warn',
      job: 'flights',
      message: 'it is late',
      channel: 'c',
      lagMs: 5,
    });
  });

  it('do not let a field hide what every line has', () => {
    const { telemetry, lines } = open();
    telemetry.log('error', 'real', { message: 'fake', level: 'info', job: 'other' });
    expect(parse(lines[0])).toMatchObject({ message: 'real', level: 'error', job: 'flights' });
  });

  it('spell errors, large numbers and bytes', () => {
    const { telemetry, lines } = open();
    const fields = { error: new RangeError('too far'), big: 2n ** 70n, data: new Uint8Array(3) };
    telemetry.log('info', 'odd', fields);
    expect(parse(lines[0])).toMatchObject({
      error: { name: 'RangeError', message: 'too far' },
      big: '1180591620717411303424',
      data: '3 bytes',
    });
  });

  it('never throw: what cannot be written is told instead', () => {
    const { telemetry, lines } = open();
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    telemetry.log('info', 'circular', circular);
    expect(parse(lines[0])['message']).toContain('a log line was lost');
    const broken = createEmbeddedMetrics({
      job: 'flights',
      system: createMemorySystem(),
      writeLine: () => {
        throw new Error('closed');
      },
    });
    broken.log('info', 'nobody hears');
    broken.publish('delays', zeroCounters());
  });
});
