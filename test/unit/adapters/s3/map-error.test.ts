import { describe, expect, it } from 'vitest';

import { classifyS3Error, mapS3Error } from '../../../../shared/adapters/s3/map-error.ts';
import { createS3ObjectStore } from '../../../../shared/adapters/s3/s3-object-store.ts';
import { createMemorySystem } from '../../../../shared/adapters/memory/memory-system.ts';
import { HoldfastError } from '../../../../shared/core/errors.ts';
import { fakeS3, sdkError } from '../fake-client.ts';

describe('errors of the S3 client', () => {
  it.each([
    ['PreconditionFailed', 412, 'exists', 'conflict'],
    ['ConditionalRequestConflict', 409, 'passing', 'unavailable'],
    ['NoSuchKey', 404, 'absent', 'invalid'],
    ['NoSuchBucket', 404, 'no-bucket', 'invalid'],
    ['InvalidRange', 416, 'empty-range', 'invalid'],
    ['SlowDown', 503, 'passing', 'unavailable'],
    ['InternalError', 500, 'passing', 'unavailable'],
    ['RequestTimeout', 400, 'passing', 'unavailable'],
    ['TimeoutError', undefined, 'passing', 'unavailable'],
    ['AccessDenied', 403, 'forbidden', 'invalid'],
    ['InvalidRequest', 400, 'malformed', 'invalid'],
    ['412', 412, 'exists', 'conflict'],
    ['Unknown', 404, 'absent', 'invalid'],
    ['Unknown', 403, 'forbidden', 'invalid'],
    ['TypeError', undefined, 'bug', 'internal'],
  ] as const)('are told by name and status: %s, %s', (name, status, failure, kind) => {
    const error = sdkError(name, status);
    expect(classifyS3Error(error)).toBe(failure);
    expect(mapS3Error(error, 'do it')).toMatchObject({ kind, cause: error });
  });

  it('leave errors of the runtime as they are', () => {
    const error = new HoldfastError('corrupt', 'it is damaged');
    expect(mapS3Error(error, 'read it')).toBe(error);
  });
});

describe('S3 object store', () => {
  const open = (answer: Parameters<typeof fakeS3>[0]) =>
    createS3ObjectStore({ client: fakeS3(answer), bucket: 'b', system: createMemorySystem() });

  it('puts again after another request was in the way', async () => {
    const errors = [sdkError('ConditionalRequestConflict', 409)];
    const inputs: Record<string, unknown>[] = [];
    const store = open(({ input }) => {
      inputs.push(input);
      const error = errors.shift();
      if (error !== undefined) throw error;
      return {};
    });
    expect(await store.create('a', new Uint8Array([1]))).toBe('created');
    expect(inputs).toHaveLength(2);
    for (const input of inputs) expect(input['IfNoneMatch']).toBe('*');
  });

  it('reads again what came short', async () => {
    const bodies = [[1], [1, 2, 3]];
    const store = open(() => {
      const bytes = new Uint8Array(bodies.shift()!);
      return { ContentLength: 3, Body: { transformToByteArray: async () => bytes } };
    });
    expect([...(await store.read('a'))!]).toEqual([1, 2, 3]);
  });

  it('reads again where the connection broke in the midst of the body', async () => {
    let reads = 0;
    const store = open(() => ({
      ContentLength: 1,
      Body: {
        transformToByteArray: async () => {
          reads += 1;
          if (reads === 1) throw new Error('aborted');
          return new Uint8Array([7]);
        },
      },
    }));
    expect([...(await store.read('a'))!]).toEqual([7]);
  });
});
