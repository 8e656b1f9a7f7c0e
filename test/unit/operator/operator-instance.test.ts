import { describe, expect, it } from 'vitest';
import { emissionsPerCallbackMax } from '../../../shared/core/emission.ts';
import { createRunner, type Context } from './run-fixture.ts';

describe('the context of an event', () => {
  it('tells its key, position, arrival and state', () => {
    const seen: unknown[] = [];
    const runner = createRunner((ctx) => {
      const { key, position, state } = ctx;
      seen.push({ key, position, nowMs: ctx.now(), total: state.total.get() });
      ctx.state.total.set((ctx.state.total.get() ?? 0) + 1);
    });
    runner.run({ key: 'a' });
    runner.run({ key: 'b', sub: 3 });
    expect(seen).toEqual([
      { key: 'a', position: { sequence: '1', sub: 0 }, nowMs: 1000, total: undefined },
      { key: 'b', position: { sequence: '2', sub: 3 }, nowMs: 2000, total: 1 },
    ]);
    expect(runner.live).toEqual([2]);
  });

  it('is refused outside of process()', () => {
    let kept: Context | undefined;
    const runner = createRunner((ctx) => {
      kept = ctx;
    });
    runner.run();
    const message = /operator doer used its context outside of process\(\)/;
    expect(() => kept!.emit({ sink: 'rows', row: { value: 1 } })).toThrow(message);
    expect(() => kept!.now()).toThrow(message);
    expect(() => kept!.random()).toThrow(message);
    expect(() => kept!.key).toThrow(message);
    expect(() => kept!.position).toThrow(message);
    expect(runner.emissions).toEqual([]);
  });

  it('is refused after a callback that threw', () => {
    let kept: Context | undefined;
    const runner = createRunner((ctx) => {
      kept = ctx;
      throw new Error('bad event');
    });
    expect(() => runner.run()).toThrow('bad event');
    expect(() => kept!.now()).toThrow(/outside of process/);
  });
});

describe('ctx.random()', () => {
  const draw = (input: { key?: string; sequence?: string; sub?: number }): number[] => {
    const numbers: number[] = [];
    createRunner((ctx) => numbers.push(ctx.random(), ctx.random())).run(input);
    return numbers;
  };

  it('gives the same numbers each time an event is run', () => {
    expect(draw({ key: 'a', sequence: '7' })).toEqual(draw({ key: 'a', sequence: '7' }));
  });

  it('gives the numbers that it has always given', () => {
    expect(draw({ key: 'a', sequence: '7' })).toEqual([0.5854116378840453, 0.8722337868725205]);
  });

  it('gives others for another key, sequence number or sub-sequence number, and for each draw', () => {
    const all = [
      ...draw({ key: 'a', sequence: '7' }),
      ...draw({ key: 'b', sequence: '7' }),
      ...draw({ key: 'a', sequence: '8' }),
      ...draw({ key: 'a', sequence: '7', sub: 1 }),
    ];
    expect(new Set(all).size).toBe(8);
  });

  it('does not depend on what the events before it drew', () => {
    const numbers: number[] = [];
    const runner = createRunner((ctx, event) => {
      for (let draws = 0; draws < (event as number); draws += 1) numbers.push(ctx.random());
    });
    runner.run({ key: 'a', sequence: '6', event: 3 });
    runner.run({ key: 'a', sequence: '7', event: 1 });
    expect(numbers[3]).toBe(draw({ key: 'a', sequence: '7' })[0]);
  });
});

describe('a callback that emits without end', () => {
  it('is stopped at the bound', () => {
    const runner = createRunner((ctx) => {
      for (;;) ctx.emit({ sink: 'rows', row: { value: 1 } });
    });
    expect(() => runner.run()).toThrow(
      `operator doer emitted more than ${emissionsPerCallbackMax} outputs for one event`,
    );
    expect(runner.emissions).toHaveLength(emissionsPerCallbackMax);
  });
});
