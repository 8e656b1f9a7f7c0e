import { describe, expect, it } from 'vitest';

import { createMemorySystem } from '../../../../shared/adapters/memory/memory-system.ts';
import { createS3ObjectStore } from '../../../../shared/adapters/s3/s3-object-store.ts';
import { isHoldfastError } from '../../../../shared/core/errors.ts';
import { fakeS3 } from '../fake-client.ts';

interface DeleteInput {
  readonly Bucket: string;
  readonly Delete: {
    readonly Objects: readonly { readonly Key: string }[];
    readonly Quiet: boolean;
  };
}

/** Removes objects from a bucket that answers each request with refusals of its own: code by name. */
async function remove(
  names: readonly string[],
  ...replies: readonly Readonly<Record<string, string>>[]
) {
  const requests: string[][] = [];
  const client = fakeS3(({ name, input }) => {
    expect(name).toBe('DeleteObjectsCommand');
    const { Delete } = input as unknown as DeleteInput;
    expect(Delete.Quiet).toBe(true);
    const reply = replies[requests.length] ?? replies.at(-1) ?? {};
    requests.push(Delete.Objects.map(({ Key }) => Key));
    return {
      Errors: Object.entries(reply).map(([Key, Code]) => ({ Key, Code, Message: 'because' })),
    };
  });
  const store = createS3ObjectStore({
    client,
    bucket: 'b',
    prefix: 'team/',
    system: createMemorySystem(),
  });
  const thrown: unknown = await store.remove(names).then(
    () => undefined,
    (error: unknown) => error,
  );
  return { thrown, requests };
}

describe('removing objects', () => {
  it('goes a thousand to a request, under their prefix', async () => {
    const names = Array.from({ length: 2_300 }, (_, at) => `o${at}`);
    const { thrown, requests } = await remove(names);
    expect(thrown).toBeUndefined();
    expect(requests.map((keys) => keys.length)).toEqual([1_000, 1_000, 300]);
    expect(requests.flat()).toEqual(names.map((name) => `team/${name}`));
  });

  it('sends no request for no objects', async () => {
    expect((await remove([])).requests).toEqual([]);
  });

  it('asks again for the objects that were refused, and those only', async () => {
    const { thrown, requests } = await remove(
      ['a', 'b', 'c', 'd'],
      { 'team/b': 'InternalError', 'team/d': 'SlowDown' },
      { 'team/d': 'InternalError' },
      {},
    );
    expect(thrown).toBeUndefined();
    expect(requests.slice(1)).toEqual([['team/b', 'team/d'], ['team/d']]);
  });

  it('passes over objects that are not there', async () => {
    const { thrown, requests } = await remove(['a', 'b'], { 'team/a': 'NoSuchKey' });
    expect(thrown).toBeUndefined();
    expect(requests).toHaveLength(1);
  });

  it('is unavailable where refusals do not end', async () => {
    const { thrown, requests } = await remove(['a', 'b'], { 'team/b': 'InternalError' });
    expect(isHoldfastError(thrown, 'unavailable')).toBe(true);
    expect(String(thrown)).toContain('cannot delete 1 objects of bucket b: InternalError: team/b');
    expect(requests).toHaveLength(8);
  });

  it('gives up at once where an object may not be deleted', async () => {
    const { thrown, requests } = await remove(['a', 'b'], {
      'team/a': 'InternalError',
      'team/b': 'AccessDenied',
    });
    expect(isHoldfastError(thrown, 'invalid')).toBe(true);
    expect(String(thrown)).toContain('give the role the right');
    expect(requests).toHaveLength(1);
  });
});
