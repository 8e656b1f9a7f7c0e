import { encodeRunFile, type RunEntry } from '../../../shared/core/run-file.ts';
import type { StoredItem } from '../../../shared/core/stored-item.ts';
import { makeItem } from './segment-fixture.ts';

export const runFileOrigin = { job: 'demo', operator: 'counts', isLast: true };

export function makeEntry(overrides: Partial<StoredItem> = {}, generation = 2): RunEntry {
  return { generation, item: makeItem(overrides) };
}

export function runFileOf(entries: readonly RunEntry[]): Uint8Array {
  return encodeRunFile(runFileOrigin, entries).bytes;
}
