import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';

import { emptyRegistry, type Registry } from '../../shared/core/registry.ts';
import type { ControlStore } from '../../shared/ports/control-store.ts';

const sinceMs = 1_735_689_600_000;

/** A registry with everything in it, of as many manifests, pending works and pins as asked for. */
export function makeRegistry(
  counts: { readonly complete?: number; readonly pending?: number; readonly pins?: number } = {},
  overrides: Partial<Registry> = {},
): Registry {
  const { complete = 2, pending = 1, pins = 1 } = counts;
  const savepoint = (at: number): string => `before-release-${at}-${randomUUID()}`;
  const objectOf = (label: string): string => `jobs/flights/savepoints/${label}/manifest.json`;
  return {
    version: 1,
    nextNumber: 1_234_567,
    pending: Array.from({ length: pending }, (_, at) => ({
      id: randomUUID().replaceAll('-', ''),
      kind: (['checkpoint', 'savepoint', 'undo', 'compaction'] as const)[at % 4]!,
      number: 1_000 + at,
      generation: 7,
      label: at % 2 === 0 ? '' : savepoint(at),
      sinceMs: sinceMs + at,
      expiresAtMs: sinceMs + 600_000 + at,
    })),
    complete: Array.from({ length: complete }, (_, at) => {
      const label = savepoint(at);
      return {
        kind: (['savepoint', 'checkpoint', 'undo'] as const)[at % 3]!,
        generation: 1 + (at % 7),
        number: at,
        object: objectOf(label),
        label,
        completedAtMs: sinceMs + at * 60_000,
        bytes: 2 ** 42 + at,
        isExact: at % 2 === 0,
      };
    }),
    pins: Array.from({ length: pins }, (_, at) => ({
      object: objectOf(savepoint(at)),
      id: randomUUID().replaceAll('-', ''),
      owner: `restore "rollback ${at}" ☃`,
      sinceMs: sinceMs + at,
    })),
    base: { generation: 7, object: 'jobs/flights/bases/000000000012.json' },
    failures: 3,
    triggeredAtMs: sinceMs,
    endedAtMs: sinceMs + 5,
    lastFailure: 'it expired',
    cleanup: { generation: 3, operator: 'delays', group: 17 },
    ...overrides,
  };
}

export function describeRegistry(name: string, open: () => Promise<ControlStore>): void {
  describe(`registry: ${name}`, () => {
    let store: ControlStore;

    beforeAll(async () => {
      store = await open();
    });

    const freshJob = (): string => `job-${randomUUID()}`;

    it('is undefined before the first', async () => {
      expect(await store.readRegistry(freshJob())).toBeUndefined();
    });

    it('begins with version 1 and is replaced version by version', async () => {
      const job = freshJob();
      const first = makeRegistry();
      const second: Registry = { ...emptyRegistry, version: 2 };
      expect(await store.writeRegistry(job, first)).toBe('committed');
      expect(await store.readRegistry(job)).toEqual(first);
      expect(await store.writeRegistry(job, second)).toBe('committed');
      expect(await store.readRegistry(job)).toEqual(second);
    });

    it('refuses any other version', async () => {
      const job = freshJob();
      expect(await store.writeRegistry(job, makeRegistry({}, { version: 2 }))).toBe('conflict');
      const first = makeRegistry();
      await store.writeRegistry(job, first);
      for (const version of [1, 3]) {
        expect(await store.writeRegistry(job, makeRegistry({}, { version }))).toBe('conflict');
      }
      expect(await store.readRegistry(job)).toEqual(first);
    });

    it('is written by exactly one of several', async () => {
      const job = freshJob();
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_, failures) =>
          store.writeRegistry(job, makeRegistry({}, { failures })),
        ),
      );
      expect(outcomes.filter((outcome) => outcome === 'committed')).toHaveLength(1);
      const { failures } = (await store.readRegistry(job))!;
      expect(failures).toBe(outcomes.indexOf('committed'));
    });

    it('is kept for each job, apart from the job itself', async () => {
      const job = freshJob();
      await store.writeRegistry(job, makeRegistry());
      expect(await store.readRegistry(freshJob())).toBeUndefined();
      expect(await store.readJob(job)).toBeUndefined();
    });

    it('has room for 500 savepoints, 50 pending works and 50 pins', async () => {
      const job = freshJob();
      const full = makeRegistry({ complete: 500, pending: 50, pins: 50 });
      expect(await store.writeRegistry(job, full)).toBe('committed');
      expect(await store.readRegistry(job)).toEqual(full);
    });
  });
}
