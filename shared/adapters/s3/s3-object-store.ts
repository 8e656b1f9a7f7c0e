import {
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type _Error as S3DeleteError,
  type GetObjectCommandInput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { HoldfastError } from '../../core/errors.ts';
import type { ObjectStore } from '../../ports/object-store.ts';
import type { System } from '../../ports/system.ts';
import { retry, type RetryPolicy } from '../system/backoff.ts';
import { classifyS3Error, mapS3Error } from './map-error.ts';

export interface S3ObjectStoreOptions {
  readonly client: S3Client;
  readonly bucket: string;
  readonly system: System;
  /** Begins all names in the bucket; empty, or ends with `/`. @default '' */
  readonly prefix?: string;
  /** How long requests without success are tried again. */
  readonly retryPolicy?: RetryPolicy;
}

/** How many objects one request may delete. */
const deletesMax = 1_000;

/** Objects in an S3 bucket. */
export function createS3ObjectStore(options: S3ObjectStoreOptions): ObjectStore {
  const { client, bucket, system, prefix = '', retryPolicy } = options;
  if (prefix !== '' && !prefix.endsWith('/')) {
    throw new HoldfastError(
      'invalid',
      `prefix ${JSON.stringify(prefix)} of bucket ${bucket}: expected none, or one that ends with "/", so that it parts its names from all others`,
    );
  }
  const attempt = <Result>(run: () => Promise<Result>): Promise<Result> =>
    retry(system, run, (error) => classifyS3Error(error) === 'passing', retryPolicy);

  const get = async (
    name: string,
    range: Pick<GetObjectCommandInput, 'Range'>,
  ): Promise<Uint8Array | undefined> => {
    try {
      // The body is part of the attempt: a connection that breaks in its midst is asked for again.
      return await attempt(async () => {
        const command = new GetObjectCommand({ Bucket: bucket, Key: prefix + name, ...range });
        const { Body, ContentLength } = await client.send(command);
        const bytes = (await Body?.transformToByteArray()) ?? new Uint8Array();
        if (ContentLength !== undefined && bytes.length !== ContentLength) {
          throw new HoldfastError(
            'unavailable',
            `cannot read object ${prefix}${name} of bucket ${bucket}: got ${bytes.length} of ${ContentLength} bytes; it is tried again`,
          );
        }
        return bytes;
      });
    } catch (error) {
      const failure = classifyS3Error(error);
      if (failure === 'absent') return undefined;
      // The object ends before the range.
      if (failure === 'empty-range') return new Uint8Array();
      throw mapS3Error(error, `read object ${prefix}${name} of bucket ${bucket}`);
    }
  };

  const removeSome = async (names: readonly string[]): Promise<void> => {
    let open = names.map((name) => ({ Key: prefix + name }));
    try {
      await attempt(async () => {
        const Delete = { Objects: open, Quiet: true };
        const reply = await client.send(new DeleteObjectsCommand({ Bucket: bucket, Delete }));
        const refused = (reply.Errors ?? []).filter(({ Code }) => Code !== 'NoSuchKey');
        if (refused.length === 0) return;
        // What was deleted meanwhile may be asked for again: deleting nothing succeeds.
        if (refused.every(({ Key }) => Key !== undefined)) {
          open = refused.map(({ Key }) => ({ Key: Key! }));
        }
        throw refusalOf(refused);
      });
    } catch (error) {
      throw mapS3Error(error, `delete ${open.length} objects of bucket ${bucket}`);
    }
  };

  return {
    async create(name, bytes) {
      try {
        await attempt(() =>
          client.send(
            new PutObjectCommand({
              Bucket: bucket,
              Key: prefix + name,
              Body: bytes,
              ContentLength: bytes.length,
              IfNoneMatch: '*',
            }),
          ),
        );
        return 'created';
      } catch (error) {
        if (classifyS3Error(error) === 'exists') return 'exists';
        throw mapS3Error(error, `create object ${prefix}${name} in bucket ${bucket}`);
      }
    },

    read: (name) => get(name, {}),

    async readStart(name, bytesMax) {
      if (!Number.isInteger(bytesMax) || bytesMax < 1) {
        throw new HoldfastError(
          'internal',
          `the first ${bytesMax} bytes of object ${name} were asked for; expected a whole number from 1`,
        );
      }
      return get(name, { Range: `bytes=0-${bytesMax - 1}` });
    },

    async readRange(name, offset, bytes) {
      if (!Number.isInteger(offset) || offset < 0 || !Number.isInteger(bytes) || bytes < 1) {
        throw new HoldfastError(
          'internal',
          `${bytes} bytes of object ${name} from ${offset} on were asked for; expected whole numbers, from 1 and from 0`,
        );
      }
      return get(name, { Range: `bytes=${offset}-${offset + bytes - 1}` });
    },

    async remove(names) {
      for (let at = 0; at < names.length; at += deletesMax) {
        await removeSome(names.slice(at, at + deletesMax));
      }
    },

    async *list(namePrefix) {
      let token: string | undefined;
      do {
        const command = new ListObjectsV2Command({
          Bucket: bucket,
          Prefix: prefix + namePrefix,
          ContinuationToken: token,
        });
        const page = await attempt(() => client.send(command)).catch((error: unknown) => {
          throw mapS3Error(error, `list objects ${prefix}${namePrefix} of bucket ${bucket}`);
        });
        for (const { Key } of page.Contents ?? []) {
          if (Key !== undefined) yield Key.slice(prefix.length);
        }
        token = page.NextContinuationToken;
      } while (token !== undefined);
    },
  };
}

/** The error of objects that were not deleted, as the SDK throws one for a whole request; what passes is told last. */
function refusalOf(refused: readonly S3DeleteError[]): Error {
  const errors = refused.map(({ Key, Code, Message }) =>
    Object.assign(new Error(`${Key}: ${Message}`), { name: Code ?? 'InternalError' }),
  );
  return errors.find((error) => classifyS3Error(error) !== 'passing') ?? errors[0]!;
}
