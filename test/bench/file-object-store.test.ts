import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createFileObjectStore } from '../../bench/state/file-object-store.ts';
import { describeObjectStore } from '../contract/object-store.contract.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'holdfast-objects-'));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describeObjectStore('files', async () => createFileObjectStore(folder));

describe('objects in files', () => {
  it('leave no draft behind, whether they were created or stood already', async () => {
    const objects = createFileObjectStore(folder);
    await objects.create('jobs/a/one', new Uint8Array([1]));
    await objects.create('jobs/a/one', new Uint8Array([2]));
    expect(readdirSync(path.join(folder, 'drafts'))).toEqual([]);
  });
});
