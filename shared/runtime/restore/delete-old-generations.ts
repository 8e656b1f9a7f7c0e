import type { CleanupPlace, Registry } from '../../core/registry.ts';
import type { Job } from '../../ports/control-store.ts';
import { changeRegistry, readRegistry } from '../checkpoint/change-registry.ts';
import { findManifest } from '../checkpoint/find-manifest.ts';
import { compareTexts } from '../../core/position.ts';
import type { Deadline } from '../deadline.ts';
import { emptyGeneration, type DeletionPorts } from './delete-generation.ts';
import { readReservation } from './reservation.ts';

/*
 * The state that a job has left behind: of each generation before the present one. Nothing reads it any more, and no number comes
 * back (R4): a restore to a manifest of such a generation loads files, under a number of its own. What S3 has of it is left to
 * garbage collection, which knows what recovery points need; its progress stays, since a restore to one of its manifests asks
 * which channels it had (R10).
 */

export interface OldGenerations {
  readonly items: number;
  /** Nothing more can be deleted now. */
  readonly isDone: boolean;
  /** The first generation of which something may be left. */
  readonly next: number;
}

/**
 * Deletes state and hints of the generations that the job has left for so long, as far as there is time. It goes through them in
 * order and writes down how far it has come, so that the next call goes on there; it can die anywhere, and run beside itself,
 * which deletes the same once more.
 *
 * Under a hold nothing is deleted, nor what a restore or a drill that is under way has reserved.
 *
 * @param retentionMs longer than any attempt may live: what one writes behind the deletion would stay
 */
export async function deleteOldGenerations(
  ports: DeletionPorts,
  retentionMs: number,
  deadline: Deadline,
): Promise<OldGenerations> {
  let items = 0;
  for (;;) {
    const job = await ports.control.readJob(ports.job);
    const registry = await readRegistry(ports);
    const place = registry.cleanup ?? { generation: 1, operator: '', group: 0 };
    const { generation } = place;
    const report = { items, next: generation };
    if (job === undefined || !(await mayBeEmptied(ports, job, registry, generation, retentionMs))) {
      return { ...report, isDone: true };
    }
    const operators = await listOperators(ports, job, registry, generation);
    const from = operators.includes(place.operator) ? place : undefined;
    const { maxParallelism } = job;
    const emptied = { generation, operators, maxParallelism };
    const { items: some, next } = await emptyGeneration(ports, emptied, deadline, from);
    items += some;
    const reached =
      next === undefined
        ? { generation: generation + 1, operator: '', group: 0 }
        : { ...next, generation };
    await moveOn(ports, reached, operators);
    if (next !== undefined) return { items, next: generation, isDone: false };
  }
}

async function mayBeEmptied(
  ports: DeletionPorts,
  job: Job,
  registry: Registry,
  generation: number,
  retentionMs: number,
): Promise<boolean> {
  if (job.hold !== undefined || generation >= job.generation) return false;
  const leftAtMs = findLeavingTime(registry, generation);
  if (leftAtMs === undefined || leftAtMs + retentionMs > ports.system.now()) return false;
  const made = await readReservation(ports, generation);
  return !registry.pins.some(({ id }) => id === made?.restore);
}

/**
 * When a generation was held to be left: its undo point says so (R2). A number that no job was in has none, and was reserved before
 * the present one: at the latest then.
 */
function findLeavingTime({ complete }: Registry, generation: number): number | undefined {
  const undos = complete.filter(({ kind }) => kind === 'undo');
  const own = undos.filter((undo) => undo.generation === generation);
  const times = (own.length > 0 ? own : undos).map(({ completedAtMs }) => completedAtMs);
  return times.length === 0 ? undefined : Math.max(...times);
}

/** Those that may have had state in a generation: that are no more deployed, too. */
async function listOperators(
  ports: DeletionPorts,
  job: Job,
  { complete }: Registry,
  generation: number,
): Promise<string[]> {
  const made = await readReservation(ports, generation);
  const undo = complete.findLast((one) => one.kind === 'undo' && one.generation === generation);
  const operators = new Set(job.operators);
  for (const name of [made?.manifest, undo?.object]) {
    const manifest = name === undefined ? undefined : await findManifest(ports, name);
    for (const { id } of manifest?.operators ?? []) operators.add(id);
  }
  return [...operators].sort(compareTexts);
}

/** Never back: a twin that is late has come less far. */
async function moveOn(
  ports: DeletionPorts,
  reached: CleanupPlace,
  operators: readonly string[],
): Promise<void> {
  const orderOf = ({ generation, operator, group }: CleanupPlace): number[] => [
    generation,
    operators.indexOf(operator),
    group,
  ];
  await changeRegistry(ports, (there) => {
    const known = there.cleanup === undefined ? [0] : orderOf(there.cleanup);
    const steps = orderOf(reached).map((value, at) => value - (known[at] ?? -1));
    const first = steps.find((step) => step !== 0) ?? 0;
    return first > 0 ? { ...there, cleanup: reached } : undefined;
  });
}
