import { describe, expect, it } from 'vitest';

import {
  judgeBatch,
  type BatchVerdict,
} from '../../../../localstack/embedded/event-source/batch-response.ts';
import { failure, success } from './test-mapping.ts';

const batch = ['9', '10', '11', '12'];

function judge(response: unknown): BatchVerdict {
  return judgeBatch(batch, success(response), true);
}

function failing(...identifiers: unknown[]): unknown {
  return { batchItemFailures: identifiers.map((itemIdentifier) => ({ itemIdentifier })) };
}

describe('a batch response', () => {
  it.each([
    ['null', null],
    ['an empty object', {}],
    ['an empty list', { batchItemFailures: [] }],
    ['a null list', { batchItemFailures: null }],
    ['only another key', { failedItems: ['9'] }],
  ])('is a success when it is %s', (_name, response) => {
    expect(judge(response)).toEqual({ kind: 'succeeded' });
  });

  it('goes back to the lowest failed sequence number, as a number', () => {
    expect(judge(failing('12', '10', '11'))).toEqual({ kind: 'partial', firstFailedIndex: 1 });
  });

  it('fails as a whole when the first record is named', () => {
    expect(judge(failing('11', '9')).kind).toBe('failed');
  });

  it.each([
    ['an empty identifier', failing('')],
    ['a null identifier', failing(null)],
    ['a number for an identifier', failing(10)],
    ['a misspelt key', { batchItemFailures: [{ identifier: '10' }] }],
    ['a null item', { batchItemFailures: [null] }],
    ['one good and one empty identifier', failing('10', '')],
    ['an identifier that is not in the batch', failing('10', '13')],
    ['a list that is none', { batchItemFailures: '10' }],
    ['a text', 'ok'],
    ['a list', ['10']],
  ])('fails as a whole with %s', (_name, response) => {
    expect(judge(response).kind).toBe('failed');
  });

  it('is not looked at when the mapping does not ask for reports', () => {
    expect(judgeBatch(batch, success(failing('10')), false)).toEqual({ kind: 'succeeded' });
  });

  it('fails as a whole when the invocation failed', () => {
    expect(judgeBatch(batch, failure(), true)).toEqual({
      kind: 'failed',
      why: 'Runtime.ExitError: it ended',
    });
  });

  it('costs no retry when the function was not reached', () => {
    const rejected = {
      kind: 'rejected',
      reason: 'throttled',
      requestId: 'r',
      errorMessage: 'busy',
    } as const;
    expect(judgeBatch(batch, rejected, true)).toEqual({ kind: 'not-invoked', why: 'busy' });
  });
});
