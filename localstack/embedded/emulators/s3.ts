import { setTimeout as sleep } from 'node:timers/promises';

import type { FastifyReply, FastifyRequest } from 'fastify';
import { buildApp } from 'fauxqs';

import type { Emulator } from './emulator.ts';
import type { FaultHook, FaultOptions, Faulty } from './faults.ts';
import { judgeConditions, renderS3Error, type S3Refusal } from './s3-conditions.ts';
import { nameS3Operation, s3Writes } from './s3-operations.ts';
import { createS3Store, type S3Store } from './s3-store.ts';

export interface S3Options extends FaultOptions {
  /** Largest body of one request; S3's own limit is 5 GB. @default 268435456 */
  readonly bodyBytesMax?: number;
}

export interface S3Emulator extends Emulator, Faulty {
  /** Requests by operation since the start or the last reset, refused and dropped ones included. */
  stats(): Readonly<Record<string, number>>;
  resetStats(): void;
}

const slowDown: S3Refusal = { status: 503, code: 'SlowDown', message: 'Reduce your request rate.' };

/**
 * Starts fauxqs in this process, with what it lacks: conditional writes and deletes, listings whose pages
 * lose no key, suffix ranges longer than the object, large bodies. Use path-style addressing. Objects live
 * in memory. Versioning, lifecycle and access rules are not there.
 */
export async function startS3(options: S3Options = {}): Promise<S3Emulator> {
  const store = await createS3Store();
  const app = buildApp({ logger: false, stores: store.stores });
  let hook = options.onRequest;
  let requests = new Map<string, number>();

  // fauxqs stops at 11 MiB; a parser's own limit takes precedence over the server's.
  app.removeContentTypeParser('*');
  app.addContentTypeParser(
    '*',
    { parseAs: 'buffer', bodyLimit: options.bodyBytesMax ?? 256 * 1024 * 1024 },
    (_request, body, done) => done(null, body),
  );
  app.addHook('preHandler', async (request, reply) => {
    const target = readTarget(request);
    requests.set(target.operation, (requests.get(target.operation) ?? 0) + 1);
    if (hook !== undefined) await misbehave(hook, target, request, reply);
  });
  // The last hook before fauxqs' synchronous handler, itself synchronous: nothing can come between the
  // check and the write, so of several racers exactly one wins.
  app.addHook('preHandler', (request, reply, done) => {
    // An empty body parses to nothing, which fauxqs cannot store.
    if (request.method === 'PUT') request.body ??= Buffer.alloc(0);
    allowLongSuffix(request, store);
    const refusal = findRefusal(request, store);
    if (refusal === undefined) return done();
    void refuse(reply, refusal, request.url);
  });

  const endpoint = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    endpoint,
    stop: async () => {
      await app.close();
    },
    setFaultHook: (replacement) => {
      hook = replacement;
    },
    stats: () => Object.fromEntries(requests),
    resetStats: () => {
      requests = new Map();
    },
  };
}

interface Target {
  readonly operation: string;
  readonly bucket: string;
  readonly key: string;
}

function readTarget(request: FastifyRequest): Target {
  const params = request.params as { bucket?: string; '*'?: string };
  const bucket = params.bucket ?? '';
  const key = params['*'] ?? '';
  const query = request.query as Record<string, string | undefined>;
  const isCopy = request.headers['x-amz-copy-source'] !== undefined;
  const operation = nameS3Operation({ method: request.method, bucket, key, query, isCopy });
  return { operation, bucket, key };
}

async function misbehave(
  hook: FaultHook,
  { operation, bucket, key }: Target,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const fault = await hook({
    operation,
    table: bucket || undefined,
    key: key || undefined,
    body: request.body,
  });
  switch (fault?.kind) {
    case undefined:
      return;
    case 'delay':
      await sleep(fault.ms);
      return;
    case 'drop-before':
      reply.hijack();
      request.raw.socket.destroy();
      return;
    case 'drop-after':
      // The handler answers into a connection that is gone: what it writes is lost, what it did is not.
      request.raw.socket.destroy();
      return;
    case 'throttle':
      if (fault.only !== undefined)
        throw new Error('S3 has no parts to throttle: leave out `only`');
      await refuse(reply, slowDown, request.url);
  }
}

function findRefusal(request: FastifyRequest, store: S3Store): S3Refusal | undefined {
  const { operation, bucket, key } = readTarget(request);
  if (!s3Writes.has(operation)) return undefined;
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers;
  return judgeConditions({ ifMatch, ifNoneMatch }, store.find(bucket, key)?.etag);
}

/** S3 answers a suffix range longer than the object with the whole object; fauxqs refuses it. */
function allowLongSuffix(request: FastifyRequest, store: S3Store): void {
  const suffix = /^bytes=-(\d+)$/.exec(request.headers.range ?? '')?.[1];
  if (suffix === undefined || request.method !== 'GET') return;
  const { bucket, key } = readTarget(request);
  const length = store.find(bucket, key)?.contentLength ?? 0;
  if (length > 0 && Number(suffix) > length) request.headers.range = 'bytes=0-';
}

function refuse(reply: FastifyReply, refusal: S3Refusal, resource: string): FastifyReply {
  return reply
    .status(refusal.status)
    .header('content-type', 'application/xml')
    .send(renderS3Error(refusal, resource));
}
