import type { JobPorts } from '../../../../shared/runtime/job-ports.ts';
import {
  changeRegistry,
  readRegistry,
} from '../../../../shared/runtime/checkpoint/change-registry.ts';
import { finishCompaction } from '../../../../shared/runtime/checkpoint/finish-compaction.ts';
import { planCompaction } from '../../../../shared/runtime/checkpoint/plan-compaction.ts';
import { runCompaction } from '../../../../shared/runtime/checkpoint/run-compaction.ts';
import {
  readManifest,
  registerPending,
} from '../../../../shared/runtime/checkpoint/take-manifest.ts';
import { compactionPrefix } from '../../../../shared/runtime/object-names.ts';

export const chooseEverything = Number.POSITIVE_INFINITY;

/** Compacts the newest checkpoint of the job's generation; with its segments so many of its runs. */
export async function compactNow(
  { ports }: { readonly ports: JobPorts },
  runs: number,
): Promise<void> {
  const { generation } = (await ports.control.readJob(ports.job))!;
  const newest = (await readRegistry(ports)).complete.findLast(
    (one) => one.generation === generation && one.kind === 'checkpoint',
  );
  if (newest === undefined) return;
  const manifest = await readManifest(ports, newest.object);
  const work = await registerPending(ports, {
    kind: 'compaction',
    generation,
    label: '',
    timeoutMs: 60_000,
  });
  await planCompaction(ports, work, manifest, {
    into: compactionPrefix(ports.job, work.number),
    dropsTombstones: true,
    runs: Math.min(runs, manifest.runs.length),
  });
  const done = await runCompaction(ports, work.number, { remainingMs: () => 60_000 });
  await finishCompaction(ports, work, done.runs!);
}

/** Retention: so many checkpoints stay, the newest; savepoints and undo points stay whatever their age. */
export async function keepNewest(ports: JobPorts, retained: number): Promise<void> {
  await changeRegistry(ports, (there) => {
    const checkpoints = there.complete.filter(({ kind }) => kind === 'checkpoint');
    const kept = new Set(checkpoints.slice(-retained));
    const complete = there.complete.filter((one) => one.kind !== 'checkpoint' || kept.has(one));
    return { ...there, complete };
  });
}
