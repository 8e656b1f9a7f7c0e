import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { tumbling } from '../../../../shared/operator/windows/window-assigner.ts';
import { driveSums } from './summing-operator.ts';

interface LabEvent {
  readonly index: number;
  readonly ts: number;
  readonly value: number;
}

const fixture = path.resolve(import.meta.dirname, '../../../../cli/lab/crash-lab-30-events.jsonl');
const events = readFileSync(fixture, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as LabEvent);

function driveLab() {
  return driveSums({ window: tumbling(10), outOfOrdernessMs: 5, allowedLatenessMs: 1000 });
}

/** Sums so far by the end of their windows. */
function readSums({ driver }: ReturnType<typeof driveLab>): Record<string, unknown> {
  const windows = driver.stateOf('a')['windows'] as Map<
    string,
    { end: number; accumulator: unknown }
  >;
  return Object.fromEntries([...windows.values()].map((one) => [one.end, one.accumulator]));
}

describe('the events of the crash lab', () => {
  it('give four results, with no crash', () => {
    const lab = driveLab();
    const outputs = events.flatMap(({ index, ts, value }) =>
      lab.send(ts, value).map((output) => `${index}: ${output}`),
    );
    outputs.push(...lab.end(29).map((output) => `end: ${output}`));
    expect(outputs).toEqual([
      '13: fire [0, 10) = 55 @ 10',
      '24: fire [10, 20) = 138 @ 21',
      '25: late-update [10, 20) = 155 @ 21',
      'end: flush [20, 30) = 255 @ 24',
    ]);
    expect(readSums(lab)).toEqual({ 10: 55, 20: 155, 30: 255 });
  });

  it('have 40 in the first window behind the eighth, at watermark 4', () => {
    const lab = driveLab();
    for (const { ts, value } of events.slice(0, 8)) lab.send(ts, value);
    expect(readSums(lab)).toEqual({ 10: 40 });
    expect(lab.driver.watermark()).toBe(4);
  });
});
