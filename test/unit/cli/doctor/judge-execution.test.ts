import { describe, expect, it } from 'vitest';
import type { WorkflowOutput } from '../../../../cli/doctor/workflows/definition.ts';
import {
  judgeCatch,
  judgeFailedExecution,
  judgeFinalError,
  judgeFlow,
  judgeRetries,
  type ExecutionEnd,
} from '../../../../cli/doctor/workflows/judge-execution.ts';

const sound: WorkflowOutput = {
  execution: 'run',
  // The order of members says nothing.
  counted: { isDone: true, done: 3, total: 3 },
  parts: [1, 2, 3].map((total) => ({ done: total, total, isDone: true })),
  asked: 3,
  failure: {
    Error: 'Holdfast.conflict',
    Cause: JSON.stringify({ errorType: 'Holdfast.conflict', errorMessage: 'asked 1 times' }),
  },
  gaveUp: { Error: 'Holdfast.unavailable' },
};
const endWith = (changes: Partial<WorkflowOutput> = {}): ExecutionEnd => ({
  status: 'SUCCEEDED',
  output: JSON.stringify({ ...sound, ...changes }),
});

describe('an execution', () => {
  it('passes every judge as AWS runs it', () => {
    const end = endWith();
    expect(judgeFlow(end, 'run')).toEqual({ result: 'works' });
    expect(judgeRetries(end, 3_100)).toEqual({ result: 'works' });
    expect(judgeCatch(end)).toEqual({ result: 'works' });
    expect(judgeFinalError(end)).toEqual({ result: 'works' });
    const failed = { status: 'FAILED', error: 'DoctorFailed', cause: 'this is how it ends' };
    expect(judgeFailedExecution(failed)).toEqual({ result: 'works' });
  });

  it.each<[string, Partial<WorkflowOutput>]>([
    ['the context object is not there', { execution: '' }],
    ['a loop ends early', { counted: { done: 1, total: 3, isDone: false } }],
    ['parts are in another order', { parts: [...sound.parts!].reverse() }],
    ['parts are given whole', { parts: [{ part: { done: 1 } }] }],
    ['nothing comes out', { execution: undefined as never }],
  ])('is not what it should be where %s', (_title, changes) => {
    expect(judgeFlow(endWith(changes), 'run').result).toBe('differs');
  });

  it('is noticed to have tried too little, or with no pause', () => {
    expect(judgeRetries(endWith({ asked: 1 }), 3_100)).toMatchObject({ got: '1 times' });
    expect(judgeRetries(endWith(), 40)).toMatchObject({ got: 'all in 40 ms' });
  });

  it('is noticed to have caught nothing', () => {
    expect(judgeCatch(endWith({ gaveUp: { Error: 'none' } })).result).toBe('differs');
  });

  it('is noticed to have tried a final error again, or called it otherwise', () => {
    const none = { failure: { Error: 'none', Cause: '' } };
    expect(judgeFinalError(endWith(none))).toMatchObject({ got: 'another try' });
    const unnamed = { failure: { Error: 'Runtime.HandlerError', Cause: '{}' } };
    expect(judgeFinalError(endWith(unnamed))).toMatchObject({ got: 'Runtime.HandlerError' });
    const silent = { failure: { Error: 'Holdfast.conflict', Cause: 'no JSON' } };
    expect(judgeFinalError(endWith(silent))).toMatchObject({ got: 'no JSON' });
  });

  it('that fails where it should not is told by its error', () => {
    const end = { status: 'FAILED', error: 'Unexpected', cause: 'a task' };
    for (const finding of [
      ...[judgeFlow(end, 'run'), judgeRetries(end, 0), judgeCatch(end), judgeFinalError(end)],
    ]) {
      expect(finding).toMatchObject({ result: 'differs', got: 'FAILED, Unexpected, a task' });
    }
    expect(judgeFailedExecution(end)).toMatchObject({ result: 'differs' });
    expect(judgeFailedExecution(endWith())).toMatchObject({ got: 'SUCCEEDED' });
  });
});
