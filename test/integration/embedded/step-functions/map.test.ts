import { describe, expect, it } from 'vitest';

import type { JsonValue } from '../../../../localstack/embedded/step-functions/json-value.ts';
import { arnOf, createMachine, errorNamed, outputOf, run } from './memory-machine.ts';

function mapOf(fields: object, states?: object): object {
  const work = { Type: 'Task', Resource: arnOf('work'), End: true };
  return {
    StartAt: 'Each',
    States: {
      Each: {
        Type: 'Map',
        ItemProcessor: {
          ProcessorConfig: { Mode: 'INLINE' },
          StartAt: 'Work',
          States: states ?? { Work: work },
        },
        End: true,
        ...fields,
      },
    },
  };
}

/** Counts how many calls are open at once; each ends when the event loop has turned a few times. */
function crowded(): { work: () => Promise<JsonValue>; most: () => number } {
  let [running, most] = [0, 0];
  return {
    most: () => most,
    async work() {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      running -= 1;
      return null;
    },
  };
}

describe('a Map', () => {
  it('gives the results in the order of the items, whatever is done first', async () => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const work = async (payload: JsonValue): Promise<JsonValue> => {
      const { i, x } = payload as { i: number; x: number };
      // The first waits for the second.
      if (i === 0) await gates[1]!.promise;
      else gates[1]!.resolve();
      return [i, x];
    };
    const definition = mapOf({
      ItemsPath: '$.list',
      ItemSelector: { 'i.$': '$$.Map.Item.Index', 'x.$': '$$.Map.Item.Value', 'all.$': '$.all' },
      ResultSelector: { 'first.$': '$[0]', 'all.$': '$' },
      ResultPath: '$.results',
    });
    const input = { list: [7, 8], all: true };
    expect(await outputOf(definition, input, { functions: { work } })).toEqual({
      ...input,
      results: {
        first: [0, 7],
        all: [
          [0, 7],
          [1, 8],
        ],
      },
    });
  });

  it('of nothing gives an empty list', async () => {
    expect(await outputOf(mapOf({}), [], { functions: { work: () => 1 } })).toEqual([]);
  });

  it.for([
    [{ MaxConcurrency: 3 }, 3],
    [{ MaxConcurrency: 1 }, 1],
    [{ MaxConcurrencyPath: '$[0]' }, 2],
    [{}, 40],
    [{ MaxConcurrency: 100 }, 40],
  ] as const)('with %j runs %d iterations at once', async ([fields, expected]) => {
    const { work, most } = crowded();
    await outputOf(mapOf(fields), Array<number>(60).fill(2), { functions: { work } });
    expect(most()).toBe(expected);
  });

  it('fails with the error of the iteration that fails, and starts no further state', async () => {
    const seen: string[] = [];
    const slow = Promise.withResolvers<void>();
    const work = async (payload: JsonValue): Promise<JsonValue> => {
      seen.push(`work ${payload as number}`);
      if (payload === 2) throw errorNamed('Bad');
      await slow.promise;
      return payload;
    };
    const after = (payload: JsonValue): JsonValue => {
      seen.push(`after ${payload as number}`);
      return payload;
    };
    const definition = mapOf(
      { MaxConcurrency: 2 },
      {
        Work: { Type: 'Task', Resource: arnOf('work'), Next: 'After' },
        After: { Type: 'Task', Resource: arnOf('after'), End: true },
      },
    );
    const execution = await run(definition, [1, 2, 3], { functions: { work, after } });
    slow.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    expect(execution.state()).toMatchObject({ status: 'FAILED', error: 'Bad' });
    expect(seen).toEqual(['work 1', 'work 2']);
    const types = execution.history.events.map(({ type }) => type);
    expect(types.filter((type) => type.startsWith('Map'))).toEqual([
      'MapStateEntered',
      'MapStateStarted',
      'MapIterationStarted',
      'MapIterationStarted',
      'MapIterationFailed',
      'MapIterationAborted',
      'MapStateFailed',
    ]);
  });

  it('is tried again as a whole, and caught', async () => {
    let calls = 0;
    const work = (payload: JsonValue): JsonValue => {
      calls += 1;
      if (payload === 'bad') throw errorNamed('Bad');
      return payload;
    };
    const definition = mapOf({
      MaxConcurrency: 1,
      Retry: [{ ErrorEquals: ['Bad'], MaxAttempts: 2 }],
      Catch: [{ ErrorEquals: ['States.TaskFailed'], ResultPath: '$[0]', Next: 'Caught' }],
    }) as { States: Record<string, object> };
    definition.States['Caught'] = { Type: 'Pass', OutputPath: '$[0].Error', End: true };
    expect(await outputOf(definition, ['good', 'bad'], { functions: { work } })).toBe('Bad');
    expect(calls).toBe(6);
  });

  it('inside of a Map has items of its own', async () => {
    const definition = mapOf(
      {},
      {
        Work: {
          Type: 'Map',
          ItemProcessor: {
            StartAt: 'Inner',
            States: {
              Inner: {
                Type: 'Task',
                Resource: arnOf('work'),
                Parameters: { 'v.$': '$$.Map.Item.Value', 'i.$': '$$.Map.Item.Index' },
                End: true,
              },
            },
          },
          End: true,
        },
      },
    );
    const work = (payload: JsonValue): JsonValue => payload;
    expect(await outputOf(definition, [['a'], ['b', 'c']], { functions: { work } })).toEqual([
      [{ v: 'a', i: 0 }],
      [
        { v: 'b', i: 0 },
        { v: 'c', i: 1 },
      ],
    ]);
  });

  it('of what is no list ends the execution', async () => {
    const execution = await run(mapOf({}), {}, { functions: { work: () => 1 } });
    expect(execution.state()).toMatchObject({ status: 'FAILED', error: 'States.Runtime' });
  });
});

describe('an execution', () => {
  it('that is stopped in a wait, in a Map or before a retry starts nothing any more', async () => {
    for (const state of [
      { Type: 'Wait', Seconds: 99_999_999, End: true },
      {
        Type: 'Task',
        Resource: arnOf('work'),
        Retry: [{ ErrorEquals: ['A'], IntervalSeconds: 1_000 }],
        End: true,
      },
      { Type: 'Task', Resource: arnOf('hang'), Next: 'Again' },
    ]) {
      let calls = 0;
      const work = (): never => {
        calls += 1;
        throw errorNamed('A');
      };
      const again = { Again: { Type: 'Task', Resource: arnOf('work'), End: true } };
      const machine = createMachine(mapOf({}, { Work: state, ...('Next' in state && again) }), {
        functions: { work, hang: () => new Promise(() => undefined) },
        speed: 1,
      });
      const execution = machine.start('run', '[1,2]');
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      const callsBefore = calls;
      execution.stop({ error: 'Enough', cause: 'for today' });
      await execution.settled;
      expect(execution.state()).toMatchObject({
        status: 'ABORTED',
        error: 'Enough',
        cause: 'for today',
      });
      expect(calls).toBe(callsBefore);
      expect(execution.history.events.at(-1)?.type).toBe('ExecutionAborted');
    }
  });

  it('ends with its time limit', async () => {
    const definition = {
      TimeoutSeconds: 1,
      StartAt: 'Long',
      States: { Long: { Type: 'Wait', Seconds: 9_999_999, End: true } },
    };
    const execution = await run(definition, {}, { speed: 1 });
    expect(execution.state()).toMatchObject({ status: 'TIMED_OUT', error: 'States.Timeout' });
    expect(execution.history.events.at(-1)?.type).toBe('ExecutionTimedOut');
  });

  it('waits until a time that has passed already not at all', async () => {
    const definition = {
      StartAt: 'Until',
      States: { Until: { Type: 'Wait', TimestampPath: '$.at', End: true } },
    };
    const input = { at: '2024-12-31T23:59:59Z' };
    expect(await outputOf(definition, input, { speed: 1 })).toEqual(input);
    const wrong = await run(definition, { at: 'soon' });
    expect(wrong.state().error).toBe('States.Runtime');
  });

  it('that runs in circles ends with its 25,000th event', async () => {
    const definition = {
      StartAt: 'Round',
      States: {
        Round: {
          Type: 'Choice',
          Choices: [{ Variable: '$', IsPresent: false, Next: 'Out' }],
          Default: 'Round',
        },
        Out: { Type: 'Succeed' },
      },
    };
    const execution = await run(definition);
    expect(execution.state()).toMatchObject({ status: 'FAILED', error: 'States.Runtime' });
    expect(execution.state().cause).toContain('maximum number of history events (25000)');
    expect(execution.history.events.length).toBe(25_000);
  });
});
