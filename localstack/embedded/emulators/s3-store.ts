import { findPackageJSON } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import type { BuildAppOptions } from 'fauxqs';

/** What this emulator reads of an object in fauxqs' store. */
interface StoredObject {
  readonly key: string;
  readonly etag: string;
  readonly contentLength: number;
}

interface ListOptions {
  readonly prefix?: string;
  readonly delimiter?: string;
  readonly maxKeys?: number;
  readonly startAfter?: string;
  readonly marker?: string;
}

interface Listing {
  readonly objects: StoredObject[];
  readonly commonPrefixes: string[];
  readonly isTruncated: boolean;
}

/** fauxqs 2.4.1's object store, as far as it is used and corrected here. */
interface FauxqsStore {
  readonly buckets: Map<string, Map<string, StoredObject>>;
  listObjects(bucket: string, options?: ListOptions): Listing;
}

/** The object store behind the S3 routes. */
export interface S3Store {
  /** `undefined` if bucket or object is missing. */
  find(bucket: string, key: string): StoredObject | undefined;
  /** For `buildApp`. */
  readonly stores: NonNullable<BuildAppOptions['stores']>;
}

/**
 * Creates fauxqs' store with its listing corrected. The package exports `buildApp` alone and keeps the
 * store that it makes to itself, so the class is loaded by its file.
 */
export async function createS3Store(): Promise<S3Store> {
  const manifest = findPackageJSON('fauxqs', import.meta.url);
  if (manifest === undefined) throw new Error('fauxqs is not installed; run npm ci');
  const file = path.join(path.dirname(manifest), 'dist', 's3', 's3Store.js');
  const module = (await import(pathToFileURL(file).href)) as { S3Store: new () => FauxqsStore };
  const store = new module.S3Store();
  const listUnordered = store.listObjects.bind(store);
  store.listObjects = (bucket, options = {}) => {
    const objects = store.buckets.get(bucket);
    // Its own way to say that there is no such bucket.
    if (objects === undefined) return listUnordered(bucket, options);
    return listInOrder(objects, options);
  };
  // buildApp makes the two stores that are not given.
  const stores = { s3Store: store } as unknown as NonNullable<BuildAppOptions['stores']>;
  return { find: (bucket, key) => store.buckets.get(bucket)?.get(key), stores };
}

/**
 * One page of a listing. fauxqs sorts by locale but resumes by code unit, which loses keys between pages,
 * and resumes after the last *object*, which repeats a common prefix that follows it: such prefixes are
 * left to the next page here. Order is by UTF-16 code unit, S3's own order for all but astral characters.
 */
export function listInOrder(
  objects: ReadonlyMap<string, StoredObject>,
  { prefix = '', delimiter = '', maxKeys = 1000, startAfter = '', marker = '' }: ListOptions,
): Listing {
  const after = startAfter || marker;
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
  const page: Listing['objects'] = [];
  const commonPrefixes: string[] = [];
  let lastPrefix: string | undefined;
  let prefixesAfterLastObject = 0;
  for (const key of keys) {
    const cut = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
    const commonPrefix = cut < 0 ? undefined : key.slice(0, cut + delimiter.length);
    if (commonPrefix !== undefined && (commonPrefix === lastPrefix || commonPrefix <= after))
      continue;
    if (page.length + commonPrefixes.length >= maxKeys) {
      if (page.length > 0) commonPrefixes.length -= prefixesAfterLastObject;
      return { objects: page, commonPrefixes, isTruncated: true };
    }
    if (commonPrefix === undefined) {
      const object = objects.get(key);
      if (object !== undefined) page.push(object);
      prefixesAfterLastObject = 0;
    } else {
      commonPrefixes.push(commonPrefix);
      lastPrefix = commonPrefix;
      prefixesAfterLastObject += 1;
    }
  }
  return { objects: page, commonPrefixes, isTruncated: false };
}
