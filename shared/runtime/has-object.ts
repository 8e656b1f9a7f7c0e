import type { ObjectStore } from '../ports/object-store.ts';

/** True where there is an object of that name; one byte of it is read. */
export async function hasObject(objects: ObjectStore, name: string): Promise<boolean> {
  return (await objects.readStart(name, 1)) !== undefined;
}
