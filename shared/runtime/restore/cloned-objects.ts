import { HoldfastError } from '../../core/errors.ts';
import type { ObjectStore } from '../../ports/object-store.ts';
import { jobPrefix } from '../object-names.ts';
import type { ClonedJob, RestorePorts } from './restore-order.ts';

/**
 * The objects of a job that is to begin as a clone, and beside them those of the job that it clones, which can only be read: a
 * name says whose an object is.
 */
export function readBesides(own: ObjectStore, cloned: ClonedJob): ObjectStore {
  const prefix = jobPrefix(cloned.job);
  const isTheirs = (name: string): boolean => name.startsWith(prefix);
  const storeOf = (name: string): ObjectStore => (isTheirs(name) ? cloned.objects : own);
  const refuse = (name: string): void => {
    if (!isTheirs(name)) return;
    throw new HoldfastError(
      'internal',
      `object ${name} belongs to job ${cloned.job}, which is cloned; a clone never changes it`,
    );
  };
  return {
    async create(name, bytes) {
      refuse(name);
      return own.create(name, bytes);
    },
    async remove(names) {
      names.forEach(refuse);
      return own.remove(names);
    },
    read: (name) => storeOf(name).read(name),
    readStart: (name, bytesMax) => storeOf(name).readStart(name, bytesMax),
    readRange: (name, offset, bytes) => storeOf(name).readRange(name, offset, bytes),
    list: (prefixOfNames) => storeOf(prefixOfNames).list(prefixOfNames),
  };
}

/** @throws HoldfastError `invalid` where the job was not deployed as a clone */
export function requireCloned({ cloned, job }: Pick<RestorePorts, 'cloned' | 'job'>): ClonedJob {
  if (cloned === undefined) {
    throw new HoldfastError(
      'invalid',
      `job ${job} is deployed as a clone of no job; deploy it with cloneOf to let it begin as one`,
    );
  }
  if (cloned.job !== job) return cloned;
  throw new HoldfastError(
    'invalid',
    `job ${job} is deployed as a clone of itself; give the clone a name of its own`,
  );
}
