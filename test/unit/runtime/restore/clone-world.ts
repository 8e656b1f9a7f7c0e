import type { JobOptions } from '../job-fixture.ts';
import { createRestorableJob, type RestorableJob } from './restorable-job.ts';
import { half, straight } from './two-halves.ts';
import type { CloneOrder } from '../../../../shared/runtime/restore/check-clone.ts';
import { restoreJob } from './restore-job.ts';
import type { RestorePorts } from '../../../../shared/runtime/restore/restore-order.ts';

/** What is asked for where nothing else is said. */
export const cloneOrder = (
  copyOf: string,
  order: Partial<CloneOrder> = {},
): CloneOrder & { readonly manifest: string } => ({
  ...{ restore: 'c1', manifest: copyOf, copyOf },
  ...{ allowNonRestoredState: false, acceptsGaps: false, areTablesLost: false },
  ...order,
});

/** A job deployed as a clone of another one, on the same stream, with stores of its own. */
export async function deployClone(source: RestorableJob, options: JobOptions = {}) {
  const { job } = source;
  const clone = await createRestorableJob({ name: 'twin', cloneOf: job, ...options });
  const { control, objects } = job;
  const ports: RestorePorts = { ...clone.ports, cloned: { job: job.name, control, objects } };
  return {
    ...clone,
    ports,
    clone: (copyOf: string, order: Partial<CloneOrder> = {}) =>
      restoreJob(ports, cloneOrder(copyOf, order)),
  };
}

/** Twenty records and a manifest of a job, twenty more, and a clone of it that has not begun. */
export async function halfway(
  make: (world: RestorableJob) => Promise<{ readonly object: string }>,
  options: JobOptions = {},
) {
  const source = await half(make);
  return { source, object: source.object, twin: await deployClone(source, options) };
}

type Visible = Awaited<ReturnType<typeof straight>>;

/**
 * What a clone's readers see that has begun behind record `cut`, once it is at record `to`: views as the other job has them,
 * appended rows of what came behind the cut alone.
 */
export async function tellRowsAfter(cut: number, to: number): Promise<Visible> {
  const [all, before] = [await straight(to), await straight(cut)];
  const ids = new Set(before.entries.map(({ id }) => id));
  const dead = new Set(before.deadLetters.map(({ position }) => position.sequence));
  return {
    entries: all.entries.filter(({ id }) => !ids.has(id)),
    totals: all.totals,
    deadLetters: all.deadLetters.filter(({ position }) => !dead.has(position.sequence)),
  };
}
