import { HoldfastError } from '../core/errors.ts';
import { assertMaxParallelism } from '../core/key-group.ts';
import type { ControlStore, Job } from '../ports/control-store.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import { jobMarkerName } from './object-names.ts';
import { createBirthHold, unbornGeneration } from './restore/unborn-job.ts';

export interface JobRequest {
  readonly name: string;
  readonly maxParallelism: number;
  readonly operators: readonly string[];
  /** R12: the job is to begin as a clone of another one, and is born held until then. @default it begins at once */
  readonly birth?: { readonly cloneOf: string; readonly atMs: number };
}

/**
 * Creates a job's item and its marker in S3, or brings the item up to a new deployment (C1). Called by a deploy alone,
 * as often as it likes; it can die between any two steps.
 *
 * A marker without an item means that the tables were lost: a first deployment would begin the stream again and double
 * every output, so it is refused. A job that was created keeps what it began as, whatever later deployments ask for.
 *
 * @throws HoldfastError `invalid` where the job cannot be what is asked for
 */
export async function registerJob(
  control: ControlStore,
  objects: ObjectStore,
  request: JobRequest,
): Promise<Job> {
  assertMaxParallelism(request.maxParallelism);
  const marker = jobMarkerName(request.name);
  const [known, markerBytes] = await Promise.all([
    control.readJob(request.name),
    objects.read(marker),
  ]);
  if (known === undefined && markerBytes !== undefined) {
    throw new HoldfastError(
      'invalid',
      `job ${request.name} was deployed before, its marker ${marker} is in the bucket, but the control table has no item for it: the tables were lost or replaced. Restore the job from a checkpoint; to begin it anew on purpose, delete the marker`,
    );
  }
  const job = known ?? (await control.createJob(newJob(request)));
  if (job.maxParallelism !== request.maxParallelism) {
    throw new HoldfastError(
      'invalid',
      `job ${request.name} has maxParallelism ${job.maxParallelism}, the deployment asks for ${request.maxParallelism}; it is fixed for the life of a job, deploy ${job.maxParallelism}`,
    );
  }
  const text = JSON.stringify({ job: job.name, maxParallelism: job.maxParallelism });
  await objects.create(marker, new TextEncoder().encode(text));
  return await bringToRun(control, job, request);
}

function newJob({ name, maxParallelism, operators, birth }: JobRequest): Job {
  return {
    name,
    version: 1,
    generation: birth === undefined ? 1 : unbornGeneration,
    status: 'creating',
    maxParallelism,
    operators,
    hold: birth && createBirthHold(birth.cloneOf, birth.atMs),
    timeline: [],
  };
}

/** How many times the item is written against other writers. */
const triesMax = 5;

async function bringToRun(control: ControlStore, job: Job, request: JobRequest): Promise<Job> {
  let current = job;
  for (let tries = 0; tries < triesMax; tries += 1) {
    const isCurrent =
      current.status === 'running' && current.operators.join() === request.operators.join();
    if (isCurrent) return current;
    const next: Job = {
      ...current,
      version: current.version + 1,
      status: 'running',
      operators: request.operators,
    };
    if ((await control.replaceJob(next, current.version)) === 'committed') return next;
    const read = await control.readJob(job.name);
    if (read === undefined) break;
    current = read;
  }
  throw new HoldfastError(
    'conflict',
    `job ${job.name} is being changed by somebody else; deploy again`,
  );
}
