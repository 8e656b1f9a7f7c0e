import type { ObjectStore } from '../ports/object-store.ts';

/** True where there is an object whose name begins so. */
export async function hasObjectBelow(objects: ObjectStore, prefix: string): Promise<boolean> {
  const first = await objects.list(prefix)[Symbol.asyncIterator]().next();
  return first.done !== true;
}

/** True where there is an object of that name; one byte of it is read. */
export async function hasObject(objects: ObjectStore, name: string): Promise<boolean> {
  return (await objects.readStart(name, 1)) !== undefined;
}
