import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { firstDifference, type Probe } from '../finding.ts';
import type { BucketBed } from './bucket-bed.ts';

const racers = 16;
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array | undefined): string =>
  bytes === undefined ? 'no object' : new TextDecoder().decode(bytes);

const creates: Probe<BucketBed> = {
  capability: 'create only where there is nothing (If-None-Match)',
  need: { kind: 'needed', text: 'no segment and no manifest is ever replaced' },
  run: async ({ store }) => {
    const first = await store.create('create/once', bytesOf('first'));
    const second = await store.create('create/once', bytesOf('second'));
    const kept = textOf(await store.read('create/once'));
    return firstDifference(
      [first === 'created', 'the first one created', first],
      [second === 'exists', '412 for the second one', second],
      [kept === 'first', 'what the first one wrote', kept],
    );
  },
};

const races: Probe<BucketBed> = {
  capability: 'one winner among racing creates',
  need: { kind: 'needed', text: 'two coordinators may complete a checkpoint at once' },
  run: async ({ store }) => {
    const results = await Promise.all(
      Array.from({ length: racers }, (_, at) => store.create('create/race', bytesOf(`${at}`))),
    );
    const winner = results.indexOf('created');
    const winners = results.filter((result) => result === 'created').length;
    const kept = textOf(await store.read('create/race'));
    return firstDifference(
      [winners === 1, `one of ${racers} created`, `${winners}`],
      [kept === String(winner), "the winner's bytes", kept],
    );
  },
};

const ranges: Probe<BucketBed> = {
  capability: 'ranges',
  need: { kind: 'needed', text: 'a restore reads parts of files' },
  run: async ({ store }) => {
    await store.create('ranges/object', bytesOf('0123456789'));
    const start = textOf(await store.readStart('ranges/object', 4));
    const middle = textOf(await store.readRange('ranges/object', 3, 4));
    const over = textOf(await store.readRange('ranges/object', 8, 10));
    const behind = textOf(await store.readRange('ranges/object', 20, 5));
    const none = textOf(await store.readRange('ranges/none', 0, 5));
    return firstDifference(
      [start === '0123', '4 bytes from the start: 0123', start],
      [middle === '3456', '4 bytes from 3: 3456', middle],
      [over === '89', 'what there is from 8: 89', over],
      [behind === '', 'an answer of its own for a range behind the end (416)', behind],
      [none === 'no object', 'NoSuchKey for what is not there', none],
    );
  },
};

const listing: Probe<BucketBed> = {
  capability: 'listing in order, under a prefix, page by page',
  need: { kind: 'needed', text: 'manifests, collection of garbage' },
  run: async ({ client, bucket, store }) => {
    const names = ['a', 'B', 'a-', 'é', 'aa', 'a/b', '~', '10', '9'];
    for (const name of ['list', 'lisu/x', ...names.map((name) => `list/${name}`)]) {
      await store.create(name, bytesOf(name));
    }
    const expected = [...names]
      .sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
      .join(' ');
    const found: string[] = [];
    for await (const name of store.list('list/')) found.push(name.slice('list/'.length));
    const paged = await listByTwo(client, bucket);
    return firstDifference(
      [found.join(' ') === expected, `in order of bytes: ${expected}`, found.join(' ')],
      [paged === expected, `the same by pages of two: ${expected}`, paged],
    );
  },
};

const deletes: Probe<BucketBed> = {
  capability: 'many deletes in a request',
  need: { kind: 'needed', text: 'collection of garbage' },
  run: async ({ store }) => {
    for (const name of ['0', '1', '2']) await store.create(`delete/${name}`, bytesOf(name));
    await store.remove(['delete/0', 'delete/1', 'delete/never']);
    const left: string[] = [];
    for await (const name of store.list('delete/')) left.push(name);
    return firstDifference([left.join() === 'delete/2', 'delete/2 left', left.join()]);
  },
};

/** What the runtime does with objects; nothing else is asked for. */
export const objectProbes = [creates, races, ranges, listing, deletes];

async function listByTwo(client: BucketBed['client'], bucket: string): Promise<string> {
  const found: string[] = [];
  let token: string | undefined;
  do {
    const page = await client.send(
      new ListObjectsV2Command({
        ...{ Bucket: bucket, Prefix: 'list/', MaxKeys: 2, ContinuationToken: token },
      }),
    );
    for (const { Key = '' } of page.Contents ?? []) found.push(Key.slice('list/'.length));
    token = page.NextContinuationToken;
  } while (token !== undefined && found.length < 100);
  return found.join(' ');
}
