import { describe, expect, it } from 'vitest';

import { seededRandom } from '../../../../localstack/embedded/seeded-random.ts';
import { FieldReader } from '../../../../localstack/embedded/step-functions/field-reader.ts';
import type {
  JsonObject,
  JsonValue,
} from '../../../../localstack/embedded/step-functions/json-value.ts';
import {
  readRetriers,
  RetryCounter,
} from '../../../../localstack/embedded/step-functions/retry-rules.ts';
import { StateError } from '../../../../localstack/embedded/step-functions/state-error.ts';
import { arnOf, errorNamed, only, outputOf, run, type MemoryFunction } from './memory-machine.ts';

function counterOf(...Retry: JsonObject[]): (error: string) => number | undefined {
  const problems: string[] = [];
  const counter = new RetryCounter(readRetriers(new FieldReader('state', { Retry }, problems)));
  expect(problems).toEqual([]);
  const random = seededRandom(7);
  return (error) => counter.nextDelaySeconds(new StateError(error, undefined), random);
}

/** Throws these errors, one a call, then gives the number of the call. */
function failing(...errors: readonly string[]): MemoryFunction {
  let calls = 0;
  return () => {
    const error = errors[calls];
    calls += 1;
    if (error !== undefined) throw errorNamed(error);
    return calls;
  };
}

const task = { Type: 'Task', Resource: arnOf('work') };

describe('a retrier', () => {
  it('waits longer each time, up to its limit, as often as it may', () => {
    const next = counterOf({
      ErrorEquals: ['A', 'B'],
      IntervalSeconds: 3,
      BackoffRate: 2,
      MaxDelaySeconds: 10,
      MaxAttempts: 4,
    });
    expect(['A', 'B', 'A', 'B', 'A'].map(next)).toEqual([3, 6, 10, 10, undefined]);
  });

  it('waits one, two and four seconds if nothing else is said', () => {
    const next = counterOf({ ErrorEquals: ['States.ALL'] });
    expect(['A', 'A', 'A', 'A'].map(next)).toEqual([1, 2, 4, undefined]);
  });

  it('with jitter waits between nothing and that', () => {
    const next = counterOf({
      ErrorEquals: ['A'],
      IntervalSeconds: 8,
      BackoffRate: 1,
      MaxAttempts: 99,
      JitterStrategy: 'FULL',
    });
    const delays = Array.from({ length: 99 }, () => next('A') ?? -1);
    expect(delays.every((delay) => delay >= 0 && delay < 8)).toBe(true);
    expect(Math.min(...delays)).toBeLessThan(1);
    expect(Math.max(...delays)).toBeGreaterThan(7);
  });

  it('counts for itself, and the first that matches decides', () => {
    const next = counterOf(
      { ErrorEquals: ['A', 'B'], MaxAttempts: 1, IntervalSeconds: 1 },
      { ErrorEquals: ['C'], MaxAttempts: 1, IntervalSeconds: 2 },
      { ErrorEquals: ['States.ALL'], MaxAttempts: 1, IntervalSeconds: 3 },
    );
    expect(['A', 'C', 'D', 'B'].map(next)).toEqual([1, 2, 3, undefined]);
  });

  it.for([
    ['States.ALL', 'States.Timeout', true],
    ['States.ALL', 'Custom', true],
    ['States.ALL', 'States.DataLimitExceeded', false],
    ['States.DataLimitExceeded', 'States.DataLimitExceeded', true],
    ['States.ALL', 'States.Runtime', false],
    ['States.Runtime', 'States.Runtime', false],
    ['States.TaskFailed', 'Custom', true],
    ['States.TaskFailed', 'States.Timeout', false],
    ['States.TaskFailed', 'States.DataLimitExceeded', false],
    ['States.Timeout', 'States.Timeout', true],
    ['Custom', 'Other', false],
  ] as const)('of %s for %s: %s', ([name, error, isMatch]) => {
    expect(counterOf({ ErrorEquals: [name] })(error) !== undefined).toBe(isMatch);
  });
});

describe('a state that fails', () => {
  it('is tried again, with the number of the try in its context', async () => {
    const seen: unknown[] = [];
    const work = failing('Later', 'Later');
    const definition = only({
      ...task,
      Parameters: { 'retries.$': '$$.State.RetryCount' },
      Retry: [{ ErrorEquals: ['Later'] }],
    });
    const functions = { work: (payload: JsonValue) => (seen.push(payload), work(payload)) };
    expect(await outputOf(definition, {}, { functions })).toBe(3);
    expect(seen).toEqual([{ retries: 0 }, { retries: 1 }, { retries: 2 }]);
  });

  it('fails the execution with the error of its last try', async () => {
    const definition = only({ ...task, Retry: [{ ErrorEquals: ['A', 'B'], MaxAttempts: 1 }] });
    const execution = await run(definition, {}, { functions: { work: failing('A', 'B', 'C') } });
    expect(execution.state()).toMatchObject({
      status: 'FAILED',
      error: 'B',
      cause: JSON.stringify({ errorType: 'B', errorMessage: 'it is B' }),
    });
  });

  it('is not tried again where MaxAttempts is 0', async () => {
    const definition = only({ ...task, Retry: [{ ErrorEquals: ['A'], MaxAttempts: 0 }] });
    const execution = await run(definition, {}, { functions: { work: failing('A') } });
    expect(execution.state().error).toBe('A');
  });

  it('begins to count anew when it is entered again', async () => {
    const definition = {
      StartAt: 'Work',
      States: {
        Work: {
          ...task,
          Retry: [{ ErrorEquals: ['A'], MaxAttempts: 1 }],
          Next: 'Twice?',
        },
        'Twice?': {
          Type: 'Choice',
          Choices: [{ Variable: '$', NumericGreaterThan: 3, Next: 'Done' }],
          Default: 'Work',
        },
        Done: { Type: 'Succeed' },
      },
    };
    let calls = 0;
    const work = (): unknown => {
      calls += 1;
      if (calls % 2 === 1) throw errorNamed('A');
      return calls;
    };
    expect(await outputOf(definition, {}, { functions: { work } })).toBe(4);
  });

  it('after its retries is caught by the first catcher that names the error', async () => {
    const definition = {
      StartAt: 'Work',
      States: {
        Work: {
          ...task,
          Retry: [{ ErrorEquals: ['Bad'], MaxAttempts: 1 }],
          Catch: [
            { ErrorEquals: ['Other'], Next: 'Wrong' },
            { ErrorEquals: ['Bad'], ResultPath: '$.failure', Next: 'Caught' },
            { ErrorEquals: ['States.ALL'], Next: 'Wrong' },
          ],
          ResultPath: '$.result',
          OutputPath: '$.result',
          End: true,
        },
        Wrong: { Type: 'Fail' },
        Caught: { Type: 'Pass', End: true },
      },
    };
    const functions = { work: failing('Bad', 'Bad') };
    expect(await outputOf(definition, { kept: 1 }, { functions })).toEqual({
      kept: 1,
      failure: {
        Error: 'Bad',
        Cause: JSON.stringify({ errorType: 'Bad', errorMessage: 'it is Bad' }),
      },
    });
  });

  it('hands over the error alone without a ResultPath', async () => {
    const definition = {
      StartAt: 'Work',
      States: {
        Work: { ...task, Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Caught' }], End: true },
        Caught: { Type: 'Pass', OutputPath: '$.Error', End: true },
      },
    };
    const functions = { work: failing('Bad') };
    expect(await outputOf(definition, { kept: 1 }, { functions })).toBe('Bad');
  });

  it('through data that does not fit is neither tried again nor caught', async () => {
    const definition = {
      StartAt: 'Work',
      States: {
        Work: {
          ...task,
          Parameters: { 'a.$': '$.missing' },
          Retry: [{ ErrorEquals: ['States.ALL'] }],
          Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Caught' }],
          End: true,
        },
        Caught: { Type: 'Pass', End: true },
      },
    };
    const execution = await run(definition, {}, { functions: { work: () => 1 } });
    expect(execution.state().error).toBe('States.Runtime');
  });

  it('through its time limit is tried again, while the function goes on', async () => {
    let calls = 0;
    const first = Promise.withResolvers<unknown>();
    const work = (): unknown => {
      calls += 1;
      return calls === 1 ? first.promise : 'second';
    };
    const definition = only({
      ...task,
      TimeoutSeconds: 1,
      Retry: [{ ErrorEquals: ['States.Timeout'] }],
    });
    const execution = await run(definition, {}, { functions: { work } });
    first.resolve('late');
    expect(execution.state().output).toBe('"second"');
    const types = execution.history.events.map(({ type }) => type);
    expect(types).toContain('LambdaFunctionTimedOut');
  });
});

describe('a Fail state', () => {
  it('ends the execution with its error and cause, fixed or computed', async () => {
    const fixed = { StartAt: 'F', States: { F: { Type: 'Fail', Error: 'E', Cause: 'because' } } };
    expect((await run(fixed)).state()).toMatchObject({
      status: 'FAILED',
      error: 'E',
      cause: 'because',
    });
    const computed = {
      StartAt: 'F',
      States: {
        F: { Type: 'Fail', ErrorPath: '$.e', CausePath: "States.Format('of {}', $.e)" },
      },
    };
    expect((await run(computed, { e: 'X' })).state()).toMatchObject({ error: 'X', cause: 'of X' });
  });

  it('needs neither', async () => {
    const state = (await run({ StartAt: 'F', States: { F: { Type: 'Fail' } } })).state();
    expect(state).toMatchObject({ status: 'FAILED' });
    expect(state.error).toBeUndefined();
  });
});
