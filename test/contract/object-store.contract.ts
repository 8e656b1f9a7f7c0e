import { randomBytes, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';

import type { ObjectStore } from '../../shared/ports/object-store.ts';

async function listAll(store: ObjectStore, prefix: string): Promise<string[]> {
  const names: string[] = [];
  for await (const name of store.list(prefix)) names.push(name);
  return names;
}

function plain(bytes: Uint8Array | undefined): number[] | undefined {
  return bytes && [...bytes];
}

export function describeObjectStore(name: string, open: () => Promise<ObjectStore>): void {
  describe(`object store: ${name}`, () => {
    let store: ObjectStore;

    beforeAll(async () => {
      store = await open();
    });

    const freshFolder = (): string => `jobs/${randomUUID()}`;

    it('gives back the bytes that were created', async () => {
      const object = `${freshFolder()}/a`;
      expect(await store.create(object, new Uint8Array([0, 1, 255]))).toBe('created');
      expect(plain(await store.read(object))).toEqual([0, 1, 255]);
    });

    it('keeps a large object whole', async () => {
      const object = `${freshFolder()}/large`;
      const bytes = randomBytes(9 * 1024 * 1024);
      await store.create(object, bytes);
      expect(Buffer.compare((await store.read(object)) ?? Buffer.alloc(0), bytes)).toBe(0);
    });

    it('has undefined for an object that is not there', async () => {
      const object = `${freshFolder()}/none`;
      expect(await store.read(object)).toBeUndefined();
      expect(await store.readStart(object, 10)).toBeUndefined();
    });

    it('never replaces an object', async () => {
      const object = `${freshFolder()}/a`;
      await store.create(object, new Uint8Array([1]));
      expect(await store.create(object, new Uint8Array([2]))).toBe('exists');
      expect(plain(await store.read(object))).toEqual([1]);
    });

    it('lets exactly one of several creators win', async () => {
      const object = `${freshFolder()}/a`;
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, (_, at) => store.create(object, new Uint8Array([at]))),
      );
      expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(1);
      expect(plain(await store.read(object))).toEqual([outcomes.indexOf('created')]);
    });

    it('takes every character of the names that are used', async () => {
      const folder = freshFolder();
      const object = `${folder}/sessions/Events_v1.raw@1735689600000/shardId-0/sessions#a@1#49#0`;
      await store.create(object, new Uint8Array([1]));
      expect(plain(await store.read(object))).toEqual([1]);
      expect(await listAll(store, folder)).toEqual([object]);
    });

    it('reads the first bytes of an object', async () => {
      const object = `${freshFolder()}/a`;
      await store.create(object, new Uint8Array([1, 2, 3, 4]));
      expect(plain(await store.readStart(object, 1))).toEqual([1]);
      expect(plain(await store.readStart(object, 3))).toEqual([1, 2, 3]);
    });

    it('reads all of an object that is smaller than what is asked for', async () => {
      const object = `${freshFolder()}/a`;
      await store.create(object, new Uint8Array([1, 2]));
      expect(plain(await store.readStart(object, 100))).toEqual([1, 2]);
    });

    it('reads a range of an object', async () => {
      const object = `${freshFolder()}/a`;
      await store.create(object, new Uint8Array([1, 2, 3, 4, 5]));
      expect(plain(await store.readRange(object, 0, 2))).toEqual([1, 2]);
      expect(plain(await store.readRange(object, 1, 3))).toEqual([2, 3, 4]);
      expect(plain(await store.readRange(object, 4, 1))).toEqual([5]);
    });

    it('reads what there is of a range that goes past the end', async () => {
      const object = `${freshFolder()}/a`;
      await store.create(object, new Uint8Array([1, 2, 3]));
      expect(plain(await store.readRange(object, 2, 100))).toEqual([3]);
      expect(plain(await store.readRange(object, 3, 100))).toEqual([]);
      expect(plain(await store.readRange(object, 99, 1))).toEqual([]);
      expect(await store.readRange(`${object}/none`, 0, 1)).toBeUndefined();
    });

    it('reads a large range, byte by byte the same', async () => {
      const object = `${freshFolder()}/large`;
      const bytes = randomBytes(3 * 1024 * 1024);
      await store.create(object, bytes);
      const range = await store.readRange(object, 1_000_003, 1_000_000);
      expect(Buffer.compare(range!, bytes.subarray(1_000_003, 2_000_003))).toBe(0);
    });

    it('removes objects, and passes over those that do not exist', async () => {
      const folder = freshFolder();
      const names = ['a', 'b/1', 'b/2', 'c#d@1 & <e>', 'z'].map((object) => `${folder}/${object}`);
      for (const object of names) await store.create(object, new Uint8Array([1]));
      await store.remove([...names.slice(1, 4), `${folder}/none`]);
      expect(await listAll(store, `${folder}/`)).toEqual([names[0], names[4]]);
      await store.remove(names);
      await store.remove([]);
      expect(await listAll(store, `${folder}/`)).toEqual([]);
      expect(await store.create(names[0]!, new Uint8Array([2]))).toBe('created');
    });

    it('reads an empty object', async () => {
      const object = `${freshFolder()}/a`;
      await store.create(object, new Uint8Array());
      expect(plain(await store.read(object))).toEqual([]);
      expect(plain(await store.readStart(object, 10))).toEqual([]);
    });

    it('lists the names with a prefix in alphabetical order', async () => {
      const folder = freshFolder();
      const names = ['b/2', 'a', 'b/10', 'b', 'c'].map((object) => `${folder}/${object}`);
      for (const object of names) await store.create(object, new Uint8Array([1]));
      expect(await listAll(store, `${folder}/`)).toEqual([...names].sort());
      expect(await listAll(store, `${folder}/b`)).toEqual(
        ['b', 'b/10', 'b/2'].map((object) => `${folder}/${object}`),
      );
      expect(await listAll(store, `${folder}/x`)).toEqual([]);
    });

    it('lists and removes more names than fit into one request', async () => {
      const folder = freshFolder();
      const names = Array.from(
        { length: 1_100 },
        (_, at) => `${folder}/${String(at).padStart(5, '0')}`,
      );
      for (let at = 0; at < names.length; at += 50) {
        const some = names.slice(at, at + 50);
        await Promise.all(some.map((object) => store.create(object, new Uint8Array([1]))));
      }
      expect(await listAll(store, folder)).toEqual(names);
      await store.remove(names.slice(1));
      expect(await listAll(store, folder)).toEqual(names.slice(0, 1));
    });

    it('shares no memory with its callers', async () => {
      const object = `${freshFolder()}/a`;
      const bytes = Buffer.from([1, 2, 3]);
      await store.create(object, bytes);
      bytes.fill(0);
      const read = await store.read(object);
      read?.fill(9);
      expect(plain(await store.read(object))).toEqual([1, 2, 3]);
    });
  });
}
