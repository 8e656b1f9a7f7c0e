import { channelId } from '../../core/channel.ts';
import { HoldfastError } from '../../core/errors.ts';
import type { Hold, Job } from '../../ports/control-store.ts';
import { inParallel } from '../in-parallel.ts';
import type { JobPorts } from '../job-ports.ts';
import { readProgressOfAll } from '../checkpoint/read-cut.ts';
import { isUnborn, unbornGeneration } from './unborn-job.ts';

/*
 * R1, R2: a hold is one compare-and-swap on the job item and then a fence in every progress item. What a fence finds is the
 * held position: nothing commits behind it, since it raised the version that every commit compares.
 */

/** How many times the job item is written against other writers. */
const triesMax = 20;

/** Channels that are fenced at once. */
const fencesMax = 32;

export interface HoldRequest {
  /** Fresh and random for each acquisition (R1); whoever is asked again with it finds the hold taken. */
  readonly id: string;
  readonly kind: Hold['kind'];
  readonly owner: string;
  /** What a restore may take over: the hold of a stopped or an unborn job, or of a restore that has flipped and died (R1). */
  readonly takesOver: boolean;
  /** The version of the job item that this acquisition is about. */
  readonly jobVersion: number;
}

/**
 * Takes the hold of a job, as it was when `jobVersion` was read: a late write of an acquisition that was given up finds
 * another version, and loses.
 *
 * @throws HoldfastError `conflict` where somebody else has it, with that one's name, or where the job has changed since
 */
export async function takeHold(ports: JobPorts, request: HoldRequest): Promise<HeldJob> {
  const { id, kind, owner, jobVersion } = request;
  const job = await readJob(ports);
  if (job.hold?.id === id) return job as HeldJob;
  refuseOtherHold(job, request);
  if (job.version === jobVersion) {
    const sinceMs = ports.system.now();
    const hold: Hold = {
      ...{ id, kind, owner, sinceMs, isFlipped: false, undo: undefined },
      ...(job.hold === undefined ? {} : { before: job.hold }),
    };
    const next = { ...job, version: job.version + 1, hold };
    if ((await ports.control.replaceJob(next, job.version)) === 'committed') return next;
    const now = await readJob(ports);
    // A lost reply.
    if (now.hold?.id === id) return now as HeldJob;
    refuseOtherHold(now, request);
  }
  throw new HoldfastError(
    'conflict',
    `job ${job.name} was changed by somebody else before it could be held; begin again`,
  );
}

function refuseOtherHold({ name, hold }: Job, { takesOver }: HoldRequest): void {
  if (hold === undefined || (takesOver && mayBeTakenOver(hold))) return;
  throw new HoldfastError(
    'conflict',
    `job ${name} is held by ${hold.kind} ${hold.owner} since ${new Date(hold.sinceMs).toISOString()}; wait for it, or end it first`,
  );
}

function mayBeTakenOver(hold: Hold): boolean {
  const { kind, isFlipped } = hold;
  return kind === 'stopped' || kind === 'unborn' || (kind === 'restore' && isFlipped);
}

/**
 * R11: creates the item of a job whose tables were lost, held by the restore and in no generation: nothing can run until
 * the flip. Where there is an item, it stays.
 */
export async function createHeldJob(
  { control, job, system }: JobPorts,
  request: Pick<HoldRequest, 'id' | 'owner'>,
  known: Pick<Job, 'maxParallelism' | 'operators' | 'timeline'>,
): Promise<Job> {
  return control.createJob({
    ...known,
    name: job,
    version: 1,
    generation: unbornGeneration,
    status: 'running',
    hold: { ...request, kind: 'restore', sinceMs: system.now(), isFlipped: false, undo: undefined },
  });
}

/** Fences every channel of the job's generation; returns once all are. It can be called again at any time of the hold. */
export async function fenceChannels(ports: JobPorts, holdId: string): Promise<number> {
  const job = await readHeldJob(ports, holdId);
  const channels = await ports.control.listChannels(job.name, job.generation);
  await inParallel(channels, fencesMax, async (channel) => {
    const known = await ports.control.readProgress(job.name, job.generation, channel);
    if (known === undefined || known.fence === holdId) return;
    await ports.control.fenceProgress(job.name, job.generation, channel, holdId);
  });
  // Nothing can be born under a hold; but a late fence of another one may have taken ours away.
  const loose = (await readProgressOfAll(ports, job.generation)).find(
    ({ progress }) => progress.fence !== holdId,
  );
  if (loose === undefined) return channels.length;
  throw new HoldfastError(
    'unavailable',
    `channel ${channelId(loose.channel)} is fenced by ${loose.progress.fence ?? 'nobody'}, not by hold ${holdId}; fence again`,
  );
}

/** The job, while it is held by this hold. */
export async function readHeldJob(ports: JobPorts, holdId: string): Promise<HeldJob> {
  const job = await readJob(ports);
  if (job.hold?.id === holdId) return job as HeldJob;
  throw lostHold(job, holdId);
}

export interface HeldJob extends Job {
  readonly hold: Hold;
}

/** Writes down that the manifest at the held positions is complete (R2). */
export async function nameUndo(ports: JobPorts, holdId: string, object: string): Promise<void> {
  await changeHeldJob(ports, holdId, (job) =>
    job.hold.undo === object ? undefined : { ...job, hold: { ...job.hold, undo: object } },
  );
}

/**
 * R5: ends the hold without a flip; nothing has changed for the job, and a hold that was taken over is back (R1). Whoever
 * finds the flip done has to go forward.
 *
 * @returns false where it had flipped already
 */
export async function abortHold(ports: JobPorts, holdId: string): Promise<boolean> {
  let isFlipped = false;
  await changeJob(ports, (job) => {
    if (job.hold?.id !== holdId) return undefined;
    isFlipped = job.hold.isFlipped;
    const { before } = job.hold;
    // A job that has no generation is never opened: without a hold to go back to this one stays (R11).
    return isFlipped || (isUnborn(job) && before === undefined)
      ? undefined
      : { ...job, hold: before };
  });
  return !isFlipped;
}

/** Ends the hold of a generation that has caught up. Fences are cleared by whoever meets them (R3). */
export async function releaseHold(
  ports: JobPorts,
  holdId: string,
  generation: number,
): Promise<void> {
  await changeJob(ports, (job) => {
    const isReleased = job.hold === undefined && job.generation >= generation;
    if (isReleased) return undefined;
    if (job.hold?.id !== holdId || job.generation !== generation) throw lostHold(job, holdId);
    return { ...job, hold: undefined };
  });
}

/**
 * R14: makes the hold of a savepoint the hold of a job that stands still: it has no age, and a resume or a restore ends it.
 */
export async function stopUnderHold(ports: JobPorts, holdId: string): Promise<void> {
  await changeHeldJob(ports, holdId, (job) =>
    job.hold.kind === 'stopped' ? undefined : { ...job, hold: { ...job.hold, kind: 'stopped' } },
  );
}

/**
 * R14: lets a job that a savepoint has stopped go on where it stands. Fences are cleared by whoever meets them (R3); a channel
 * whose records have left the stream meanwhile stops and says so (R7).
 *
 * @throws HoldfastError `conflict` where something else holds it
 */
export async function resumeJob(ports: JobPorts): Promise<Job> {
  return changeJob(ports, (job) => {
    if (job.hold === undefined) return undefined;
    if (job.hold.kind === 'stopped') return { ...job, hold: undefined };
    if (job.hold.kind === 'unborn') {
      throw new HoldfastError(
        'conflict',
        `job ${job.name} was deployed as a ${job.hold.owner} and has not begun; begin it with: holdfast clone`,
      );
    }
    throw new HoldfastError(
      'conflict',
      `job ${job.name} was not stopped by a savepoint, it is held by ${job.hold.kind} ${job.hold.owner} since ${new Date(job.hold.sinceMs).toISOString()}; wait for it`,
    );
  });
}

/** Changes the job while it is held by this hold; `change` gives undefined where nothing is left to do. */
export async function changeHeldJob(
  ports: JobPorts,
  holdId: string,
  change: (job: HeldJob) => Job | undefined,
): Promise<Job> {
  return changeJob(ports, (job) => {
    if (job.hold?.id !== holdId) throw lostHold(job, holdId);
    return change(job as HeldJob);
  });
}

async function changeJob(
  ports: JobPorts,
  change: (job: Job) => Omit<Job, 'version'> | undefined,
): Promise<Job> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const job = await readJob(ports);
    const changed = change(job);
    if (changed === undefined) return job;
    const next: Job = { ...changed, version: job.version + 1 };
    // A lost reply shows as a conflict; read again, the change is found done.
    if ((await ports.control.replaceJob(next, job.version)) === 'committed') return next;
  }
  throw new HoldfastError(
    'conflict',
    `job ${ports.job} was changed by others ${triesMax} times in a row; try again`,
  );
}

export async function readJob({ control, job }: JobPorts): Promise<Job> {
  const there = await control.readJob(job);
  if (there !== undefined) return there;
  throw new HoldfastError(
    'invalid',
    `job ${job} has no item in the control table; deploy it first`,
  );
}

function lostHold(job: Job, holdId: string): HoldfastError {
  const who = job.hold === undefined ? 'nobody' : `${job.hold.kind} ${job.hold.owner}`;
  return new HoldfastError(
    'fenced',
    `hold ${holdId} of job ${job.name} is over: generation ${job.generation} is held by ${who}; nothing more is done under it`,
  );
}
