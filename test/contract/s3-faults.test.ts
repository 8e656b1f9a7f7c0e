import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import type { Fault } from '../../localstack/embedded/emulators/faults.ts';
import { startS3, type S3Emulator } from '../../localstack/embedded/emulators/s3.ts';
import { createS3ObjectStore } from '../../shared/adapters/s3/s3-object-store.ts';
import { isHoldfastError } from '../../shared/core/errors.ts';
import type { ObjectStore } from '../../shared/ports/object-store.ts';
import { hastySystem } from './dynamodb-tables.ts';

async function listAll(store: ObjectStore): Promise<string[]> {
  const names: string[] = [];
  for await (const name of store.list('')) names.push(name);
  return names;
}

describe('object store when S3 misbehaves', () => {
  let emulator: S3Emulator;
  let client: S3Client;
  let store: ObjectStore;
  let requests: number;

  beforeAll(async () => {
    emulator = await startS3();
    client = new S3Client({
      endpoint: emulator.endpoint,
      forcePathStyle: true,
      region: 'us-east-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
      maxAttempts: 1,
    });
  });

  afterAll(async () => {
    client.destroy();
    await emulator.stop();
  });

  beforeEach(async () => {
    const bucket = `bucket-${randomUUID()}`;
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
    store = createS3ObjectStore({ client, bucket, system: hastySystem });
  });

  afterEach(() => {
    emulator.setFaultHook(undefined);
  });

  const misbehave = (...faults: Fault[]): void => {
    requests = 0;
    emulator.setFaultHook(() => faults[requests++]);
  };
  const always = (fault: Fault): void => {
    requests = 0;
    emulator.setFaultHook(() => {
      requests += 1;
      return fault;
    });
  };
  const isUnavailable = async (promise: Promise<unknown>): Promise<boolean> =>
    promise.then(
      () => false,
      (error: unknown) => isHoldfastError(error, 'unavailable'),
    );
  const bytes = new Uint8Array([1, 2, 3]);

  it('finds its own object where the reply was lost', async () => {
    misbehave({ kind: 'drop-after' });
    expect(await store.create('a', bytes)).toBe('exists');
    expect(requests).toBe(2);
    expect([...(await store.read('a'))!]).toEqual([1, 2, 3]);
  });

  it('creates the object where the request was lost or refused', async () => {
    misbehave({ kind: 'drop-before' }, { kind: 'throttle' });
    expect(await store.create('a', bytes)).toBe('created');
    expect(requests).toBe(3);
  });

  it('reads and lists where requests are lost or refused', async () => {
    await store.create('a', bytes);
    misbehave({ kind: 'drop-after' }, { kind: 'throttle' });
    expect([...(await store.read('a'))!]).toEqual([1, 2, 3]);
    misbehave({ kind: 'throttle' });
    expect([...(await store.readStart('a', 2))!]).toEqual([1, 2]);
    misbehave({ kind: 'drop-after' }, { kind: 'throttle' });
    expect([...(await store.readRange('a', 1, 2))!]).toEqual([2, 3]);
    misbehave({ kind: 'drop-before' });
    expect(await listAll(store)).toEqual(['a']);
  });

  it('removes objects where requests are lost or refused', async () => {
    for (const name of ['a', 'b', 'c']) await store.create(name, bytes);
    misbehave({ kind: 'drop-after' }, { kind: 'throttle' }, { kind: 'drop-before' });
    await store.remove(['a', 'c']);
    expect(requests).toBe(4);
    expect(await listAll(store)).toEqual(['b']);
  });

  it('is unavailable where it does not end', async () => {
    always({ kind: 'throttle' });
    expect(await isUnavailable(store.create('a', bytes))).toBe(true);
    expect(requests).toBe(8);
    always({ kind: 'drop-before' });
    expect(await isUnavailable(store.read('a'))).toBe(true);
    expect(await isUnavailable(store.readStart('a', 1))).toBe(true);
    expect(await isUnavailable(store.readRange('a', 0, 1))).toBe(true);
    expect(await isUnavailable(store.remove(['a']))).toBe(true);
    expect(await isUnavailable(listAll(store))).toBe(true);
  });

  it('is invalid where there is no such bucket, rather than without the object', async () => {
    const lost = createS3ObjectStore({ client, bucket: 'nowhere', system: hastySystem });
    for (const call of [
      () => lost.create('a', bytes),
      () => lost.read('a'),
      () => lost.readStart('a', 1),
      () => lost.readRange('a', 0, 1),
      () => lost.remove(['a']),
      () => listAll(lost),
    ]) {
      const thrown: unknown = await call().then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(isHoldfastError(thrown, 'invalid')).toBe(true);
    }
  });

  it('refuses a prefix that does not end with a slash, and a start of no bytes', async () => {
    const open = () =>
      createS3ObjectStore({ client, bucket: 'b', prefix: 'flights', system: hastySystem });
    expect(open).toThrow(/ends with "\/"/);
    await expect(store.readStart('a', 0)).rejects.toThrow(/whole number from 1/);
    for (const [offset, count] of [
      [-1, 1],
      [0, 0],
      [0.5, 1],
    ] as const) {
      await expect(store.readRange('a', offset, count)).rejects.toThrow(/whole numbers/);
    }
  });
});
