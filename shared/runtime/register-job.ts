import { HoldfastError } from '../core/errors.ts';
import { assertMaxParallelism } from '../core/key-group.ts';
import type { ControlStore, Job, SinkKinds } from '../ports/control-store.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import { jobMarkerName } from './object-names.ts';
import { createBirthHold, unbornGeneration } from './restore/unborn-job.ts';

export interface JobRequest {
  readonly name: string;
  readonly maxParallelism: number;
  readonly operators: readonly string[];
  /** How its sinks take rows. @default it is not compared with how they have taken them so far */
  readonly sinks?: SinkKinds;
  /** What the job reads. @default it is not compared with what the job has read so far */
  readonly streamArn?: string;
  /** R12: the job is to begin as a clone of another one, and is born held until then. @default it begins at once */
  readonly birth?: { readonly cloneOf: string; readonly atMs: number };
}

/**
 * Creates a job's item and its marker in S3, or brings the item up to a new deployment (C1). Called by a deploy alone,
 * as often as it likes; it can die between any two steps.
 *
 * A marker without an item means that the tables were lost: a first deployment would begin the stream again and double
 * every output, so it is refused. A job that was created keeps what it began as, whatever later deployments ask for.
 * So are changes under which what is stored would mean something else: another maxParallelism, another stream, a renamed
 * operator, and a sink of another kind. Of a job whose item does not know the kinds they are taken from the deployment.
 * What is refused has changed nothing: CloudFormation rolls the deployment back to what the job is.
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
  refuseAnotherStream(request, markerBytes);
  const job = known ?? (await control.createJob(newJob(request)));
  if (job.maxParallelism !== request.maxParallelism) {
    throw new HoldfastError(
      'invalid',
      `job ${request.name} has maxParallelism ${job.maxParallelism}, the deployment asks for ${request.maxParallelism}: the key groups of every stored key depend on it; it is fixed for the life of a job, deploy ${job.maxParallelism}, or a job of another name`,
    );
  }
  refuseRenamedOperators(job, request.operators);
  refuseChangedSinks(job, request.sinks);
  const { streamArn } = request;
  const text = JSON.stringify({ job: job.name, maxParallelism: job.maxParallelism, streamArn });
  await objects.create(marker, new TextEncoder().encode(text));
  return await bringToRun(control, job, request);
}

/** Positions of one stream mean nothing in another: its records would be taken for ones that were processed, or gaps be seen. */
function refuseAnotherStream(
  { name, streamArn }: JobRequest,
  markerBytes: Uint8Array | undefined,
): void {
  if (markerBytes === undefined || streamArn === undefined) return;
  const marker = JSON.parse(new TextDecoder().decode(markerBytes)) as { streamArn?: string };
  if (marker.streamArn === undefined || marker.streamArn === streamArn) return;
  throw new HoldfastError(
    'invalid',
    `job ${name} reads ${marker.streamArn}, the deployment gives it ${streamArn}: the positions of the one mean nothing in the other; deploy it with the stream that it has, or a job of another name with the new one`,
  );
}

/** One that goes while one comes: what its author calls a new name is a new operator with no state, at the stream's beginning. */
function refuseRenamedOperators(job: Job, operators: readonly string[]): void {
  const gone = job.operators.filter((operator) => !operators.includes(operator));
  const added = operators.filter((operator) => !job.operators.includes(operator));
  if (gone.length === 0 || added.length === 0) return;
  throw new HoldfastError(
    'invalid',
    `job ${job.name} has operators ${gone.join(', ')} that the deployment lacks, and the deployment has ${added.join(', ')} that the job lacks: under another id an operator has no state, reads the stream from its beginning and puts out everything again; keep the id, or, if they are different operators, remove the old ones in one deployment and add the new ones in the next`,
  );
}

/**
 * Rows of the one kind mean nothing to the other: an append sink would leave the last rows of a view standing for ever, a view
 * would stand beside rows that no row of it ever replaces. One that has gone is forgotten: under its name there will be a new table.
 */
function refuseChangedSinks(job: Job, sinks: SinkKinds = {}): void {
  const known = new Map(Object.entries(job.sinks ?? {}));
  const changed = Object.entries(sinks).filter(
    ([name, kind]) => (known.get(name) ?? kind) !== kind,
  );
  if (changed.length === 0) return;
  const names = changed.map(
    ([name, kind]) => `${name} (${known.get(name)} so far, ${kind} in the deployment)`,
  );
  throw new HoldfastError(
    'invalid',
    `job ${job.name} has sinks of another kind than the deployment: ${names.join(', ')}: the rows in the table were written as the one and would be taken for the other; give the new sink another name, or remove it in one deployment and add it in the next, which gives it a new table and leaves the old one alone`,
  );
}

function newJob({ name, maxParallelism, operators, sinks, birth }: JobRequest): Job {
  return {
    name,
    version: 1,
    generation: birth === undefined ? 1 : unbornGeneration,
    status: 'creating',
    maxParallelism,
    operators,
    ...(sinks === undefined ? {} : { sinks }),
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
      current.status === 'running' &&
      current.operators.join() === request.operators.join() &&
      areKnown(current, request.sinks);
    if (isCurrent) return current;
    const next: Job = {
      ...current,
      version: current.version + 1,
      status: 'running',
      operators: request.operators,
      ...(request.sinks === undefined ? {} : { sinks: request.sinks }),
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

function areKnown({ sinks: known }: Job, sinks: SinkKinds | undefined): boolean {
  if (sinks === undefined) return true;
  const text = (kinds: SinkKinds): string =>
    Object.entries(kinds)
      .map((kind) => kind.join())
      .toSorted()
      .join();
  return known !== undefined && text(known) === text(sinks);
}
