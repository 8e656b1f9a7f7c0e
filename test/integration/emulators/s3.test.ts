import { randomBytes, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';

import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  paginateListObjectsV2,
  PutObjectCommand,
  type S3Client,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Fault } from '../../../localstack/embedded/emulators/faults.ts';
import { startS3, type S3Emulator } from '../../../localstack/embedded/emulators/s3.ts';
import { connectS3, failureOf } from './sdk-clients.ts';

const Bucket = 'objects';
let s3: S3Emulator;
let client: S3Client;

beforeAll(async () => {
  s3 = await startS3();
  client = connectS3(s3);
  await client.send(new CreateBucketCommand({ Bucket }));
});

afterAll(async () => {
  client.destroy();
  await s3.stop();
});

const newKey = (): string => `k/${randomUUID()}`;
const put = (Key: string, Body: string | Uint8Array, conditions: Conditions = {}) =>
  client.send(new PutObjectCommand({ Bucket, Key, Body, ...conditions }));
const read = async (Key: string, Range?: string): Promise<Uint8Array> => {
  const reply = await client.send(new GetObjectCommand({ Bucket, Key, Range }));
  return (await reply.Body?.transformToByteArray()) ?? new Uint8Array();
};
const readText = async (Key: string, Range?: string): Promise<string> =>
  Buffer.from(await read(Key, Range)).toString();

interface Conditions {
  readonly IfMatch?: string;
  readonly IfNoneMatch?: string;
}

async function refusalOf(promise: Promise<unknown>): Promise<[string, number | undefined]> {
  const error = await failureOf(promise);
  expect(error).toBeInstanceOf(S3ServiceException);
  return [error.name, (error as S3ServiceException).$metadata.httpStatusCode];
}

describe('conditional writes', () => {
  it('create an absent object under If-None-Match: *', async () => {
    const key = newKey();
    await put(key, 'first', { IfNoneMatch: '*' });
    expect(await readText(key)).toBe('first');
  });

  it('answer 412 and keep the object when it exists', async () => {
    const key = newKey();
    await put(key, 'first');
    expect(await refusalOf(put(key, 'second', { IfNoneMatch: '*' }))).toEqual([
      'PreconditionFailed',
      412,
    ]);
    expect(await readText(key)).toBe('first');
  });

  it('let exactly one of fifty racers win, and its bytes are what is stored', async () => {
    const key = newKey();
    const racers = await Promise.allSettled(
      Array.from({ length: 50 }, (_, n) => put(key, `racer ${n}`, { IfNoneMatch: '*' })),
    );
    const winners = racers.flatMap(({ status }, n) => (status === 'fulfilled' ? [n] : []));
    expect(winners).toHaveLength(1);
    expect(await readText(key)).toBe(`racer ${winners[0]}`);
  });

  it('let exactly one of fifty racers replace the object that all have seen', async () => {
    const key = newKey();
    const { ETag } = await put(key, 'seen');
    const racers = await Promise.allSettled(
      Array.from({ length: 50 }, (_, n) => put(key, `racer ${n}`, { IfMatch: ETag ?? '' })),
    );
    expect(racers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('answer 412 when If-Match names another version', async () => {
    const key = newKey();
    const { ETag } = await put(key, 'first');
    await put(key, 'second');
    expect(await refusalOf(put(key, 'third', { IfMatch: ETag ?? '' }))).toEqual([
      'PreconditionFailed',
      412,
    ]);
    expect(await readText(key)).toBe('second');
  });

  it('answer 404 when If-Match meets no object', async () => {
    const etag = '"d41d8cd98f00b204e9800998ecf8427e"';
    expect(await refusalOf(put(newKey(), 'x', { IfMatch: etag }))).toEqual(['NoSuchKey', 404]);
  });

  it('refuse an If-None-Match that is not *, as S3 does', async () => {
    const refusal = await refusalOf(put(newKey(), 'x', { IfNoneMatch: '"abc"' }));
    expect(refusal).toEqual(['NotImplemented', 501]);
  });

  it('hold for copies', async () => {
    const source = newKey();
    const target = newKey();
    await put(source, 'source');
    const copy = () =>
      client.send(
        new CopyObjectCommand({
          Bucket,
          Key: target,
          CopySource: `${Bucket}/${source}`,
          IfNoneMatch: '*',
        }),
      );
    await copy();
    expect(await readText(target)).toBe('source');
    expect(await refusalOf(copy())).toEqual(['PreconditionFailed', 412]);
  });

  it('hold for the completion of a multipart upload', async () => {
    const key = newKey();
    const upload = await startUpload(key, [Buffer.from('parts')]);
    await put(key, 'came first');
    expect(await refusalOf(complete(upload, { IfNoneMatch: '*' }))).toEqual([
      'PreconditionFailed',
      412,
    ]);
    expect(await readText(key)).toBe('came first');
  });

  it('hold for deletes', async () => {
    const key = newKey();
    const { ETag } = await put(key, 'first');
    const remove = (IfMatch: string | undefined) =>
      client.send(new DeleteObjectCommand({ Bucket, Key: key, IfMatch }));
    await put(key, 'second');
    expect(await refusalOf(remove(ETag))).toEqual(['PreconditionFailed', 412]);
    expect(await readText(key)).toBe('second');
    await remove('*');
    expect(await refusalOf(read(key))).toEqual(['NoSuchKey', 404]);
    expect(await refusalOf(remove('*'))).toEqual(['NoSuchKey', 404]);
  });
});

describe('objects', () => {
  it('come back byte for byte with the default checksums, empty and large ones too', async () => {
    for (const bytes of [0, 1, 1_000_000, 20 * 1024 * 1024]) {
      const key = newKey();
      const body = randomBytes(bytes);
      const reply = await put(key, body);
      expect(reply.ChecksumCRC32).toEqual(expect.any(String));
      expect(Buffer.compare(await read(key), body)).toBe(0);
    }
  });

  it('accept a streamed body with its checksum in the trailer', async () => {
    const key = newKey();
    const body = randomBytes(3_000_000);
    await client.send(
      new PutObjectCommand({
        Bucket,
        Key: key,
        Body: Readable.from([body.subarray(0, 70_000), body.subarray(70_000)]),
        ContentLength: body.length,
      }),
    );
    expect(Buffer.compare(await read(key), body)).toBe(0);
  });

  it('are read in ranges: middle, open and suffix', async () => {
    const key = newKey();
    await put(key, '0123456789');
    expect(await readText(key, 'bytes=2-4')).toBe('234');
    expect(await readText(key, 'bytes=7-')).toBe('789');
    expect(await readText(key, 'bytes=-3')).toBe('789');
    expect(await readText(key, 'bytes=8-999')).toBe('89');
  });

  it('come whole for a suffix longer than the object', async () => {
    const key = newKey();
    await put(key, 'short');
    expect(await readText(key, 'bytes=-1000')).toBe('short');
  });

  it('answer 416 for a range past the end', async () => {
    const key = newKey();
    await put(key, 'short');
    expect(await refusalOf(read(key, 'bytes=5-'))).toEqual(['InvalidRange', 416]);
  });

  it('carry their user metadata', async () => {
    const key = newKey();
    await client.send(
      new PutObjectCommand({ Bucket, Key: key, Body: 'x', Metadata: { attempt: 'a-1' } }),
    );
    const head = await client.send(new HeadObjectCommand({ Bucket, Key: key }));
    expect(head.Metadata).toEqual({ attempt: 'a-1' });
    expect(head.ContentLength).toBe(1);
  });

  it('arrive in parts', async () => {
    const key = newKey();
    const parts = [randomBytes(5 * 1024 * 1024), randomBytes(1_000)];
    await complete(await startUpload(key, parts), { IfNoneMatch: '*' });
    expect(Buffer.compare(await read(key), Buffer.concat(parts))).toBe(0);
  });

  it('do not appear when their upload is aborted', async () => {
    const key = newKey();
    const { UploadId } = await startUpload(key, [Buffer.from('part')]);
    await client.send(new AbortMultipartUploadCommand({ Bucket, Key: key, UploadId }));
    expect(await refusalOf(read(key))).toEqual(['NoSuchKey', 404]);
  });
});

describe('listings', () => {
  it('give every key once and in code-unit order, over pages', async () => {
    const prefix = `list-${randomUUID()}/`;
    const names = ['B', 'a', 'a-1', 'a/1', 'a0', 'Z', '_', '10', '9', 'é'];
    for (const name of names) await put(prefix + name, name);
    const keys: string[] = [];
    for await (const page of paginateListObjectsV2(
      { client, pageSize: 3 },
      { Bucket, Prefix: prefix },
    )) {
      for (const { Key } of page.Contents ?? []) keys.push((Key ?? '').slice(prefix.length));
    }
    expect(keys).toEqual([...names].sort());
  });

  it('give every common prefix once, over pages', async () => {
    const prefix = `tree-${randomUUID()}/`;
    const names = ['a', 'b/1', 'b/2', 'c', 'd/1', 'e/1', 'f', 'g/1'];
    for (const name of names) await put(prefix + name, name);
    for (const pageSize of [1, 2, 3, 4, 7]) {
      const found: string[] = [];
      for await (const page of paginateListObjectsV2(
        { client, pageSize },
        { Bucket, Prefix: prefix, Delimiter: '/' },
      )) {
        for (const { Key } of page.Contents ?? []) found.push((Key ?? '').slice(prefix.length));
        for (const entry of page.CommonPrefixes ?? []) {
          found.push((entry.Prefix ?? '').slice(prefix.length));
        }
      }
      expect(found.sort(), `pages of ${pageSize}`).toEqual(['a', 'b/', 'c', 'd/', 'e/', 'f', 'g/']);
    }
  });

  it('start after a key', async () => {
    const prefix = `after-${randomUUID()}/`;
    for (const name of ['1', '2', '3']) await put(prefix + name, name);
    const page = await client.send(
      new ListObjectsV2Command({ Bucket, Prefix: prefix, StartAfter: `${prefix}1` }),
    );
    expect(page.Contents?.map(({ Key }) => Key)).toEqual([`${prefix}2`, `${prefix}3`]);
  });
});

describe('faults', () => {
  it('drop before: the object is not written', async () => {
    const key = newKey();
    const error = await failureOf(underFault({ kind: 'drop-before' }, () => put(key, 'x')));
    expect(error).not.toBeInstanceOf(S3ServiceException);
    expect(await refusalOf(read(key))).toEqual(['NoSuchKey', 404]);
  });

  it('drop after: the object is written and the reply lost', async () => {
    const key = newKey();
    const write = () => put(key, 'mine', { IfNoneMatch: '*' });
    const error = await failureOf(underFault({ kind: 'drop-after' }, write));
    expect(error).not.toBeInstanceOf(S3ServiceException);
    expect(await readText(key)).toBe('mine');
    expect(await refusalOf(write())).toEqual(['PreconditionFailed', 412]);
  });

  it('delay: the write comes, although its client has given up', async () => {
    const key = newKey();
    const abort = new AbortController();
    let reached = (): void => undefined;
    const held = new Promise<void>((resolve) => (reached = resolve));
    s3.setFaultHook(() => {
      reached();
      return { kind: 'delay', ms: 50 };
    });
    const write = failureOf(
      client.send(new PutObjectCommand({ Bucket, Key: key, Body: 'zombie' }), {
        abortSignal: abort.signal,
      }),
    );
    await held;
    s3.setFaultHook(undefined);
    abort.abort();
    expect((await write).name).toBe('AbortError');
    await expect.poll(() => readText(key).catch(() => undefined)).toBe('zombie');
  });

  it('throttle: answers SlowDown and does nothing', async () => {
    const key = newKey();
    const write = underFault({ kind: 'throttle' }, () => put(key, 'x'));
    expect(await refusalOf(write)).toEqual(['SlowDown', 503]);
    expect(await refusalOf(read(key))).toEqual(['NoSuchKey', 404]);
  });

  it('are chosen by what the hook sees: operation, bucket, key and bytes', async () => {
    const seen: unknown[] = [];
    const key = newKey();
    s3.setFaultHook(({ operation, table, key: objectKey, body }) => {
      seen.push([operation, table, objectKey, body instanceof Buffer ? body.length : body]);
      return undefined;
    });
    await put(key, 'four');
    await read(key);
    s3.setFaultHook(undefined);
    expect(seen).toEqual([
      ['PutObject', Bucket, key, 4],
      ['GetObject', Bucket, key, undefined],
    ]);
  });
});

describe('stats', () => {
  it('count requests by operation until they are reset', async () => {
    const key = newKey();
    s3.resetStats();
    await put(key, 'x');
    await put(key, 'y');
    await read(key);
    await failureOf(put(key, 'z', { IfNoneMatch: '*' }));
    expect(s3.stats()).toEqual({ PutObject: 3, GetObject: 1 });
    s3.resetStats();
    expect(s3.stats()).toEqual({});
  });
});

/** Sends one request while every request meets the fault. */
async function underFault<T>(fault: Fault, send: () => Promise<T>): Promise<T> {
  s3.setFaultHook(() => fault);
  try {
    return await send();
  } finally {
    s3.setFaultHook(undefined);
  }
}

interface Upload {
  readonly Bucket: string;
  readonly Key: string;
  readonly UploadId: string | undefined;
  readonly MultipartUpload: { Parts: { PartNumber: number; ETag: string | undefined }[] };
}

async function startUpload(Key: string, parts: readonly Uint8Array[]): Promise<Upload> {
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
  const Parts: Upload['MultipartUpload']['Parts'] = [];
  for (const [index, Body] of parts.entries()) {
    const PartNumber = index + 1;
    const { ETag } = await client.send(
      new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }),
    );
    Parts.push({ PartNumber, ETag });
  }
  return { Bucket, Key, UploadId, MultipartUpload: { Parts } };
}

function complete(upload: Upload, conditions: Conditions) {
  return client.send(new CompleteMultipartUploadCommand({ ...upload, ...conditions }));
}
