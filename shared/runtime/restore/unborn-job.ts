import type { Hold, Job } from '../../ports/control-store.ts';

/**
 * R11, R12: the generation of a job that is to begin from a manifest, until its restore has flipped. It is held all that time,
 * and nothing of it can run; there is no progress in this generation and never will be.
 */
export const unbornGeneration = 0;

/** R12: what a clone begins with counts as made in this generation: it is the parent of the first that the clone runs in. */
export const copiedGeneration = 1;

export function isUnborn({ generation }: Pick<Job, 'generation'>): boolean {
  return generation === unbornGeneration;
}

/**
 * R12: the hold that a job is born with which is to begin as a clone. It stands until a restore takes it over, and is back
 * where that is aborted. No fence names it, and there is one for each job: it needs no random id.
 */
export function createBirthHold(clonedJob: string, sinceMs: number): Hold {
  return {
    ...{ id: 'unborn', kind: 'unborn', owner: `clone of ${clonedJob}`, sinceMs },
    ...{ isFlipped: false, undo: undefined },
  };
}
