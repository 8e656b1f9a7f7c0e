import { channelId } from '../../core/channel.ts';
import { HoldfastError } from '../../core/errors.ts';
import type { Base, SortedRun } from '../../core/manifest.ts';
import { encodeBase } from '../../core/manifest-codec.ts';
import type { PendingWork, Registry } from '../../core/registry.ts';
import type { JobPorts } from '../job-ports.ts';
import { baseName } from '../object-names.ts';
import { changeRegistry, readRegistry } from './change-registry.ts';
import { findBase } from './find-manifest.ts';
import { readPlan } from './plan-compaction.ts';

export interface FinishedCompaction {
  /** Object name of the base. */
  readonly base: string;
  /** The next manifests of the generation list the base's runs. */
  readonly isCurrent: boolean;
}

/** How many times the registry's base is looked at again, because somebody has changed it meanwhile. */
const triesMax = 20;

/**
 * Ends a compaction whose files stand: writes its base, and by compare-and-swap takes its work away and makes the base the one
 * that counts. It can be called again, and beside a twin.
 *
 * @returns undefined where the work is not pending any more: it was found too old, or somebody else has finished it
 */
export async function finishCompaction(
  ports: JobPorts,
  pending: PendingWork,
  runs: readonly SortedRun[],
): Promise<FinishedCompaction | undefined> {
  const object = baseName(ports.job, pending.number);
  const base = await writeBase(ports, pending, runs);
  for (let tries = 0; tries < triesMax; tries += 1) {
    const seen = await readRegistry(ports);
    const isCurrent = await isNewer(ports, base, seen);
    let isOurs = false;
    const registry = await changeRegistry(ports, (there) => {
      const rest = there.pending.filter(({ id }) => id !== pending.id);
      isOurs = rest.length < there.pending.length && there.base?.object === seen.base?.object;
      if (!isOurs) return undefined;
      const next = isCurrent ? { generation: base.generation, object } : there.base;
      return { ...there, pending: rest, base: next };
    });
    if (registry.base?.object === object) return { base: object, isCurrent: true };
    if (isOurs) return { base: object, isCurrent: false };
    if (!registry.pending.some(({ id }) => id === pending.id)) return undefined;
  }
  throw new HoldfastError(
    'conflict',
    `the base of job ${ports.job} was changed by others ${triesMax} times in a row; try again`,
  );
}

async function writeBase(
  ports: JobPorts,
  { number }: PendingWork,
  runs: readonly SortedRun[],
): Promise<Base> {
  const { job } = ports;
  const name = baseName(job, number);
  const { manifest } = await readPlan(ports, number);
  const base: Base = {
    job,
    generation: manifest.generation,
    runs,
    compacted: manifest.channels.flatMap(({ channel, progress: { head } }) =>
      head === undefined ? [] : [{ channel: channelId(channel), number: head.number }],
    ),
  };
  if ((await ports.objects.create(name, encodeBase(base))) === 'created') return base;
  return (await findBase(ports, name)) ?? base;
}

/**
 * Manifests list the segments behind the base that counts. One that reaches less far must never replace it: what lies between
 * may have been collected. So a base is newer only where it reaches at least as far on every channel.
 */
async function isNewer(ports: JobPorts, base: Base, { base: there }: Registry): Promise<boolean> {
  const job = await ports.control.readJob(ports.job);
  if (job?.generation !== base.generation) return false;
  if (there === undefined || there.generation < base.generation) return true;
  if (there.generation > base.generation) return false;
  const old = await findBase(ports, there.object);
  if (old === undefined) {
    throw new HoldfastError(
      'corrupt',
      `base ${there.object} is not in the bucket; no checkpoint can be made of it, restore an earlier one`,
    );
  }
  const reached = new Map(base.compacted.map(({ channel, number }) => [channel, number]));
  return old.compacted.every(({ channel, number }) => (reached.get(channel) ?? 0) >= number);
}
