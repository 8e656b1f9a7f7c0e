import { HoldfastError } from '../../core/errors.ts';
import { compareTexts, type Position } from '../../core/position.ts';
import type { StoredItem } from '../../core/stored-item.ts';
import type { ItemWrite, StateScope, StateStore, WriteOutcome } from '../../ports/state-store.ts';

/** One stored item with where it is and when it may be collected. */
export interface MemoryStateRow {
  readonly scope: StateScope;
  readonly item: StoredItem;
  /** s since the epoch; undefined unless a pass has let this tombstone be collected (P14). */
  readonly expiresAtSeconds: number | undefined;
}

export interface MemoryStateStore extends StateStore {
  /** Copies of everything that is stored, in order of scope, key group and key. */
  rows(): MemoryStateRow[];
  /** What the TTL of a table does, some time after it was due: removes what expired before `nowSeconds`. */
  collectExpired(nowSeconds: number): void;
  /** A store of its own that begins with everything that is in this one. */
  copy(): MemoryStateStore;
}

/** Keyed state in memory. Nothing that it takes or gives is shared with the caller. */
export function createMemoryStateStore(): MemoryStateStore {
  return storeOver(new Map());
}

function storeOver(partitions: Map<string, Map<string, MemoryStateRow>>): MemoryStateStore {
  const partitionOf = (scope: StateScope, keyGroup: number): Map<string, MemoryStateRow> => {
    const name = `${scope.job}#${scope.generation}#${scope.operator}#${keyGroup}`;
    const partition = partitions.get(name) ?? new Map<string, MemoryStateRow>();
    partitions.set(name, partition);
    return partition;
  };

  const writeOne = (scope: StateScope, { item, expectedVersion }: ItemWrite): WriteOutcome => {
    const partition = partitionOf(scope, item.keyGroup);
    if (partition.get(item.key)?.item.version !== expectedVersion) return 'conflict';
    // A state write removes what expireTombstones has set.
    partition.set(item.key, {
      scope: { ...scope },
      item: copyItem(item),
      expiresAtSeconds: undefined,
    });
    return 'written';
  };

  return {
    async load(scope, keys) {
      const found = new Map<string, StoredItem>();
      for (const { key, keyGroup } of keys) {
        const row = partitionOf(scope, keyGroup).get(key);
        if (row !== undefined) found.set(key, copyItem(row.item));
      }
      return found;
    },

    async write(scope, writes) {
      const keys = new Set<string>();
      for (const { item } of writes) {
        if (keys.has(item.key)) throw repeatedKey(item.key);
        keys.add(item.key);
      }
      return writes.map((write) => writeOne(scope, write));
    },

    async *scan(scope, keyGroup) {
      const partition = partitionOf(scope, keyGroup);
      for (const key of [...partition.keys()]) {
        const row = partition.get(key);
        if (row !== undefined) yield copyItem(row.item);
      }
    },

    async remove(scope, keys) {
      for (const { key, keyGroup } of keys) partitionOf(scope, keyGroup).delete(key);
    },

    async expireTombstones(scope, tombstones) {
      for (const { key, keyGroup, version, expiresAtSeconds } of tombstones) {
        const partition = partitionOf(scope, keyGroup);
        const row = partition.get(key);
        if (row === undefined || row.item.version !== version || row.item.states !== undefined) {
          continue;
        }
        partition.set(key, { ...row, expiresAtSeconds });
      }
    },

    rows() {
      const rows: MemoryStateRow[] = [];
      for (const partition of partitions.values()) {
        for (const row of partition.values()) {
          rows.push({ ...row, scope: { ...row.scope }, item: copyItem(row.item) });
        }
      }
      return rows.sort(compareRows);
    },

    collectExpired(nowSeconds) {
      for (const partition of partitions.values()) {
        for (const [key, { expiresAtSeconds }] of partition) {
          if (expiresAtSeconds !== undefined && expiresAtSeconds < nowSeconds)
            partition.delete(key);
        }
      }
    },

    copy: () => storeOver(structuredClone(partitions)),
  };
}

function repeatedKey(key: string): HoldfastError {
  return new HoldfastError(
    'internal',
    `a call writes key ${JSON.stringify(key)} twice; a key must occur once in a unit (P5)`,
  );
}

function copyItem(item: StoredItem): StoredItem {
  return {
    key: item.key,
    keyGroup: item.keyGroup,
    version: item.version,
    position: copyPosition(item.position),
    arrivalMs: item.arrivalMs,
    states: copyBytes(item.states),
    emissions: copyBytes(item.emissions),
    spills: item.spills.map((spill) => ({ ...spill, last: copyPosition(spill.last) })),
    timers: item.timers.map((timer) => ({ ...timer })),
  };
}

function copyPosition(position: Position): Position {
  const { step } = position;
  return step === undefined ? { ...position } : { ...position, step: { ...step } };
}

function compareRows(a: MemoryStateRow, b: MemoryStateRow): number {
  return (
    compareTexts(a.scope.job, b.scope.job) ||
    a.scope.generation - b.scope.generation ||
    compareTexts(a.scope.operator, b.scope.operator) ||
    a.item.keyGroup - b.item.keyGroup ||
    compareTexts(a.item.key, b.item.key)
  );
}

// Not `slice()`, which keeps a Buffer's memory shared.
function copyBytes(bytes: Uint8Array | undefined): Uint8Array | undefined {
  return bytes === undefined ? undefined : new Uint8Array(bytes);
}
