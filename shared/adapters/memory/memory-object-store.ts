import type { ObjectStore } from '../../ports/object-store.ts';

export interface MemoryObjectStore extends ObjectStore {
  /** Copies of all objects, by name, in alphabetical order. */
  objects(): Map<string, Uint8Array>;
  /** Takes an object away at once, as an accident would. */
  lose(name: string): void;
  /** A store of its own that begins with everything that is in this one. */
  copy(): MemoryObjectStore;
}

/** Objects in memory. Nothing that it takes or gives is shared with the caller. */
export function createMemoryObjectStore(): MemoryObjectStore {
  return storeOver(new Map());
}

function storeOver(objects: Map<string, Uint8Array>): MemoryObjectStore {
  const names = (): string[] => [...objects.keys()].sort();

  return {
    async create(name, bytes) {
      if (objects.has(name)) return 'exists';
      objects.set(name, copyBytes(bytes));
      return 'created';
    },

    async read(name) {
      const bytes = objects.get(name);
      return bytes === undefined ? undefined : copyBytes(bytes);
    },

    async readStart(name, bytesMax) {
      const bytes = objects.get(name);
      return bytes === undefined ? undefined : copyBytes(bytes.subarray(0, bytesMax));
    },

    async readRange(name, offset, bytes) {
      const object = objects.get(name);
      return object === undefined ? undefined : copyBytes(object.subarray(offset, offset + bytes));
    },

    async remove(removed) {
      for (const name of removed) objects.delete(name);
    },

    async *list(prefix) {
      for (const name of names()) if (name.startsWith(prefix)) yield name;
    },

    objects() {
      return new Map(names().map((name) => [name, copyBytes(objects.get(name)!)]));
    },

    lose(name) {
      objects.delete(name);
    },

    copy: () => storeOver(structuredClone(objects)),
  };
}

// Not `slice()`, which keeps a Buffer's memory shared.
function copyBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}
