import { HoldfastError } from '../../core/errors.ts';
import type { Job } from '../../ports/control-store.ts';
import type { Hint, HintStore } from '../../ports/hint-store.ts';
import type { ItemKey, StateScope, StateStore } from '../../ports/state-store.ts';
import { hasTimeFor, type Deadline } from '../deadline.ts';
import type { JobPorts } from '../job-ports.ts';
import { readJob } from './hold.ts';
import { hintsOf } from './load.ts';

export interface Deletion {
  readonly items: number;
  /** From where to go on; undefined where nothing is left. */
  readonly next: { readonly operator: string; readonly group: number } | undefined;
}

const itemsAtOnce = 500;
const reserveMs = 10_000;

/**
 * Deletes the state of a generation that is over: of one that a restore has left behind, or that a drill or an aborted restore
 * never used. Its number stays taken (R4), and what S3 has of it is left to garbage collection.
 *
 * @throws HoldfastError `invalid` for the generation that the job is in, or one above it while the job is held: that may be
 *   the one that is being loaded
 */
export async function deleteGeneration(
  ports: DeletionPorts,
  generation: number,
  deadline: Deadline,
  from?: Deletion['next'],
): Promise<Deletion> {
  const job = await readJob(ports);
  refusePresent(job, generation);
  if (generation > job.generation && job.hold !== undefined) {
    throw new HoldfastError(
      'invalid',
      `generation ${generation} may be the one that ${job.hold.kind} ${job.hold.owner} is loading; wait for it`,
    );
  }
  const { operators, maxParallelism } = job;
  return emptyGeneration(ports, { generation, operators, maxParallelism }, deadline, from);
}

export type DeletionPorts = JobPorts & { readonly state: StateStore; readonly hints: HintStore };

export function refusePresent({ name, generation: present }: Job, generation: number): void {
  if (generation !== present) return;
  throw new HoldfastError(
    'invalid',
    `job ${name} is in generation ${generation}; its state cannot be deleted`,
  );
}

/** Deletes the items of some operators, with the hints of their timers; the caller knows that nobody needs them. */
export async function emptyGeneration(
  ports: DeletionPorts,
  {
    generation,
    operators,
    maxParallelism,
  }: Pick<Job, 'generation' | 'operators' | 'maxParallelism'>,
  deadline: Deadline,
  from?: Deletion['next'],
): Promise<Deletion> {
  let items = 0;
  // An operator that is gone meanwhile: begin again.
  const start = from === undefined ? 0 : Math.max(0, operators.indexOf(from.operator));
  for (const operator of operators.slice(start)) {
    const scope: StateScope = { job: ports.job, generation, operator };
    const first = operator === from?.operator ? from.group : 0;
    for (let group = first; group < maxParallelism; group += 1) {
      if (!hasTimeFor(deadline, reserveMs)) return { items, next: { operator, group } };
      items += await emptyGroup(ports, scope, group);
    }
  }
  return { items, next: undefined };
}

async function emptyGroup(
  { state, hints }: Pick<DeletionPorts, 'state' | 'hints'>,
  scope: StateScope,
  group: number,
): Promise<number> {
  let items = 0;
  let keys: ItemKey[] = [];
  let timers: Hint[] = [];
  const remove = async (): Promise<void> => {
    // The hints first: the items are what tells of them.
    await hints.remove(scope, timers);
    await state.remove(scope, keys);
    items += keys.length;
    keys = [];
    timers = [];
  };
  for await (const item of state.scan(scope, group)) {
    keys.push({ key: item.key, keyGroup: item.keyGroup });
    timers.push(...hintsOf(item));
    if (keys.length >= itemsAtOnce) await remove();
  }
  await remove();
  return items;
}
