import { createMemoryControlStore } from '../../shared/adapters/memory/memory-control-store.ts';
import { createMemoryHintStore } from '../../shared/adapters/memory/memory-hint-store.ts';
import { createMemoryObjectStore } from '../../shared/adapters/memory/memory-object-store.ts';
import { createMemorySystem } from '../../shared/adapters/memory/memory-system.ts';
import {
  createMemoryTelemetry,
  type MemoryTelemetry,
} from '../../shared/adapters/memory/memory-telemetry.ts';
import type { StoredItem } from '../../shared/core/stored-item.ts';
import type { ObjectStore } from '../../shared/ports/object-store.ts';
import type { Sink } from '../../shared/ports/sink.ts';
import type { StateStore } from '../../shared/ports/state-store.ts';
import type { OperatorRuntime } from '../../shared/runtime/operator-runtime.ts';

/*
 * Ports that cost next to nothing, so that what is measured is the product. Those of the product itself copy what they take
 * and give, so that tests notice sharing; for 600 keys in 1,000 events that is as much again.
 */

export interface LeanPorts extends Pick<
  OperatorRuntime,
  'control' | 'hints' | 'state' | 'objects' | 'system'
> {
  readonly telemetry: MemoryTelemetry;
}

export function createLeanPorts(): LeanPorts {
  return {
    control: createMemoryControlStore(),
    hints: createMemoryHintStore(),
    state: createLeanStateStore(),
    objects: createForgettingObjectStore(),
    system: createMemorySystem(),
    telemetry: createMemoryTelemetry(),
  };
}

/** Keeps the items themselves: they are never changed. Versions are checked. */
function createLeanStateStore(): StateStore {
  const items = new Map<string, StoredItem>();
  return {
    async load(_scope, keys) {
      const found = new Map<string, StoredItem>();
      for (const { key } of keys) {
        const item = items.get(key);
        if (item !== undefined) found.set(key, item);
      }
      return found;
    },
    async write(_scope, writes) {
      return writes.map(({ item, expectedVersion }) => {
        if (items.get(item.key)?.version !== expectedVersion) return 'conflict';
        items.set(item.key, item);
        return 'written';
      });
    },
    async *scan() {
      yield* items.values();
    },
    async remove(_scope, keys) {
      for (const { key } of keys) items.delete(key);
    },
    async expireTombstones() {
      // Nothing is ever collected here.
    },
  };
}

/** Takes segments and keeps none, so that a long run does not fill the memory; nobody reads one in a process without a crash. */
function createForgettingObjectStore(): ObjectStore {
  return {
    ...createMemoryObjectStore(),
    async create() {
      return 'created';
    },
  };
}

/** Counts rows. */
export function createCountingSink(): Sink & { readonly rows: () => number } {
  let count = 0;
  return {
    rows: () => count,
    async write(_source, rows) {
      count += rows.length;
      return { written: rows.length, skipped: 0 };
    },
  };
}
