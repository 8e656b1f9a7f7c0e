import { HoldfastError } from '../../core/errors.ts';
import { emptyRegistry, type Registry } from '../../core/registry.ts';
import type { JobPorts } from '../job-ports.ts';

/** How many times the registry is written against other writers. */
const triesMax = 20;

export async function readRegistry({
  control,
  job,
}: Pick<JobPorts, 'control' | 'job'>): Promise<Registry> {
  return (await control.readRegistry(job)) ?? emptyRegistry;
}

/**
 * Changes the registry by compare-and-swap. `change` is called with what is there, as often as somebody else was faster,
 * and gives what shall be instead; undefined leaves it as it is. A lost reply shows as a conflict, so `change` must be at
 * ease with finding its own change done.
 *
 * @returns what the registry is now
 */
export async function changeRegistry(
  ports: Pick<JobPorts, 'control' | 'job'>,
  change: (registry: Registry) => Omit<Registry, 'version'> | undefined,
): Promise<Registry> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const registry = await readRegistry(ports);
    const changed = change(registry);
    if (changed === undefined) return registry;
    const next: Registry = { ...changed, version: registry.version + 1 };
    if ((await ports.control.writeRegistry(ports.job, next)) === 'committed') return next;
  }
  throw new HoldfastError(
    'conflict',
    `the registry of job ${ports.job} was changed by others ${triesMax} times in a row; try again`,
  );
}
