import { describe, expect, it } from 'vitest';

import {
  classifyCode,
  classifyError,
  mapDynamodbError,
} from '../../../../shared/adapters/dynamodb/map-error.ts';
import { HoldfastError } from '../../../../shared/core/errors.ts';
import { sdkError } from '../fake-client.ts';

describe('errors of the DynamoDB client', () => {
  it.each([
    ['ProvisionedThroughputExceededException', 400, 'throttled', 'unavailable'],
    ['ThrottlingException', 400, 'throttled', 'unavailable'],
    ['RequestLimitExceeded', 400, 'throttled', 'unavailable'],
    ['TransactionConflictException', 400, 'transaction-conflict', 'unavailable'],
    ['TransactionInProgressException', 400, 'transaction-conflict', 'unavailable'],
    ['ConditionalCheckFailedException', 400, 'condition-failed', 'conflict'],
    ['DuplicateItemException', 400, 'duplicate', 'conflict'],
    ['InternalServerError', 500, 'unknown-reply', 'unavailable'],
    ['ServiceUnavailable', 503, 'unknown-reply', 'unavailable'],
    ['TimeoutError', undefined, 'unknown-reply', 'unavailable'],
    ['Error', undefined, 'unknown-reply', 'unavailable'],
    ['SyntaxError', undefined, 'unknown-reply', 'unavailable'],
    ['UnknownOperationException', 400, 'unsupported', 'invalid'],
    ['AccessDeniedException', 400, 'forbidden', 'invalid'],
    ['CredentialsProviderError', undefined, 'forbidden', 'invalid'],
    ['ResourceNotFoundException', 400, 'missing', 'invalid'],
    ['ValidationException', 400, 'malformed', 'invalid'],
    ['SomethingNewException', 400, 'malformed', 'invalid'],
    ['TypeError', undefined, 'bug', 'internal'],
  ] as const)('are told by name and status: %s, %s', (name, status, failure, kind) => {
    const error = sdkError(name, status);
    expect(classifyError(error)).toBe(failure);
    const mapped = mapDynamodbError(error, 'read it');
    expect(mapped.kind).toBe(kind);
    expect(mapped.cause).toBe(error);
  });

  it('say what was done, what happened and what to do', () => {
    const mapped = mapDynamodbError(sdkError('AccessDeniedException', 400), 'load state from t');
    expect(mapped.message).toBe(
      'cannot load state from t: AccessDeniedException: AccessDeniedException happened; give the role the right, or the client valid credentials, and deploy again',
    );
  });

  it('leave errors of the runtime as they are', () => {
    const error = new HoldfastError('corrupt', 'it is damaged');
    expect(mapDynamodbError(error, 'read it')).toBe(error);
  });

  it('are a bug where no error was thrown at all', () => {
    expect(mapDynamodbError('text', 'read it')).toMatchObject({
      kind: 'internal',
      message: expect.stringContaining('text') as string,
    });
  });
});

describe('codes of statements', () => {
  it.each([
    ['ConditionalCheckFailed', 'condition-failed'],
    ['DuplicateItem', 'duplicate'],
    ['ThrottlingError', 'throttled'],
    ['ProvisionedThroughputExceeded', 'throttled'],
    ['RequestLimitExceeded', 'throttled'],
    ['TransactionConflict', 'transaction-conflict'],
    ['InternalServerError', 'unknown-reply'],
    ['ValidationError', 'malformed'],
    ['ItemCollectionSizeLimitExceeded', 'malformed'],
    ['AccessDenied', 'forbidden'],
    ['ResourceNotFound', 'missing'],
    ['SomethingNew', 'unknown-reply'],
    [undefined, 'unknown-reply'],
  ] as const)('mean %s → %s', (code, failure) => {
    expect(classifyCode(code)).toBe(failure);
  });
});
