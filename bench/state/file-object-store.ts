import { randomUUID } from 'node:crypto';
import {
  link,
  mkdir,
  open,
  readdir,
  readFile,
  rm,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';
import path from 'node:path';
import { compareTexts } from '../../shared/core/position.ts';
import type { ObjectStore } from '../../shared/ports/object-store.ts';

/**
 * Objects as files in a folder: what is read or written is all that it has in memory. A name may begin with another one and `/`,
 * so that the files lie in one folder, under their names with `/` escaped.
 */
export function createFileObjectStore(folder: string): ObjectStore {
  const root = path.join(folder, 'objects');
  const fileOf = (name: string): string => path.join(root, encodeURIComponent(name));
  const drafts = path.join(folder, 'drafts');

  const readPart = async (name: string, offset: number, bytes: number) => {
    const file = await undefinedOn('ENOENT', open(fileOf(name)));
    if (file === undefined) return undefined;
    try {
      return await readAt(file, offset, bytes);
    } finally {
      await file.close();
    }
  };

  return {
    async create(name, bytes) {
      const file = fileOf(name);
      await mkdir(root, { recursive: true });
      await mkdir(drafts, { recursive: true });
      // A link appears whole, or not where one stands.
      const draft = path.join(drafts, randomUUID());
      await writeFile(draft, bytes);
      const isFirst = await undefinedOn(
        'EEXIST',
        link(draft, file).then(() => true),
      );
      await rm(draft);
      return isFirst === true ? 'created' : 'exists';
    },

    async read(name) {
      return undefinedOn('ENOENT', readFile(fileOf(name)));
    },

    readStart: (name, bytesMax) => readPart(name, 0, bytesMax),

    readRange: readPart,

    async remove(names) {
      for (const name of names) await rm(fileOf(name), { force: true });
    },

    async *list(prefix) {
      const files = (await undefinedOn('ENOENT', readdir(root))) ?? [];
      const names = files.map(decodeURIComponent);
      yield* names.filter((name) => name.startsWith(prefix)).sort(compareTexts);
    },
  };
}

async function readAt(file: FileHandle, offset: number, bytes: number): Promise<Uint8Array> {
  const { size } = await file.stat();
  const part = new Uint8Array(Math.max(0, Math.min(bytes, size - offset)));
  let filled = 0;
  while (filled < part.length) {
    const { bytesRead } = await file.read(part, filled, part.length - filled, offset + filled);
    if (bytesRead === 0) throw new Error(`a file has ended at byte ${offset + filled}`);
    filled += bytesRead;
  }
  return part;
}

/** What is asked for; undefined where it fails with this code. */
async function undefinedOn<T>(code: string, result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === code) return undefined;
    throw error;
  }
}
