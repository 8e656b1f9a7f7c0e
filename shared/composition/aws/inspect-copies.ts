import type { z } from 'zod';
import { HoldfastError } from '../../core/errors.ts';
import type { Deadline } from '../../runtime/deadline.ts';
import { checkCopies, fallbackOf } from '../../runtime/restore/backup-copies.ts';
import type { RestorePorts } from '../../runtime/restore/restore-order.ts';
import { examplesMax, type copies } from './restore-steps-schema.ts';

export type InspectedCopies = z.output<typeof copies>;

/** Looks at the copies of some more of a manifest's objects, as many as there is time for. */
export async function inspectCopies(
  ports: RestorePorts,
  manifest: string,
  before: InspectedCopies,
  deadline: Deadline,
): Promise<InspectedCopies> {
  const objects = fallbackOf(ports);
  if (objects === undefined) {
    throw new HoldfastError('internal', `the copies of ${manifest} are looked at with no backup`);
  }
  const found = await checkCopies({ ...ports, objects }, manifest, deadline, before.next);
  return {
    isDone: found.next === undefined,
    next: found.next ?? before.next,
    objects: before.objects + found.objects,
    fellBack: addNames(before.fellBack, found.fellBack),
    lost: addNames(before.lost, found.lost),
    rounds: before.rounds + 1,
  };
}

function addNames(
  { objects, examples }: InspectedCopies['lost'],
  names: readonly string[],
): InspectedCopies['lost'] {
  return {
    objects: objects + names.length,
    examples: [...examples, ...names].slice(0, examplesMax),
  };
}
