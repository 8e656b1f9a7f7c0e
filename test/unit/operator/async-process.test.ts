import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createRunner } from './run-fixture.ts';

describe('a process() that is asynchronous', () => {
  it('is refused, and its rejection goes unheard', async () => {
    const runner = createRunner(async () => {
      await Promise.resolve();
      throw new Error('later');
    });
    expect(() => runner.run()).toThrow(
      /operator doer: process\(\) returned a promise; it has to be synchronous/,
    );
    // An unhandled rejection would fail the run of this file.
    await setImmediate();
  });

  it('is refused an output after its first await', async () => {
    let late: unknown;
    const runner = createRunner(async (ctx) => {
      await Promise.resolve();
      try {
        ctx.emit({ sink: 'rows', row: { value: 1 } });
      } catch (error) {
        late = error;
      }
    });
    expect(() => runner.run()).toThrow();
    await setImmediate();
    expect(String(late)).toMatch(/outside of process/);
    expect(runner.emissions).toEqual([]);
  });
});
