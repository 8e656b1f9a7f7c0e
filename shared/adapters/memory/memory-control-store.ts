import { channelId, type Channel } from '../../core/channel.ts';
import { HoldfastError } from '../../core/errors.ts';
import { comparePositions, type Position } from '../../core/position.ts';
import type { Progress } from '../../core/progress.ts';
import type { Registry } from '../../core/registry.ts';
import type { Birth, ControlStore, Job, Suspicion } from '../../ports/control-store.ts';

/** The progress of one channel in one generation. */
export interface MemoryProgressRow {
  readonly job: string;
  readonly channel: Channel;
  readonly progress: Progress;
}

export interface MemoryControlStore extends ControlStore {
  /** Copies of all progress items, in order of their channels. */
  progressRows(): MemoryProgressRow[];
  /** A store of its own that begins with everything that is in this one. */
  copy(): MemoryControlStore;
}

interface ControlItems {
  readonly jobs: Map<string, Job>;
  readonly progressRows: Map<string, MemoryProgressRow>;
  readonly suspicions: Map<string, Suspicion>;
  readonly registries: Map<string, Registry>;
}

/** Job, progress, registry and suspicion in memory. Nothing that it takes or gives is shared with the caller. */
export function createMemoryControlStore(): MemoryControlStore {
  return storeOver({
    jobs: new Map(),
    progressRows: new Map(),
    suspicions: new Map(),
    registries: new Map(),
  });
}

function storeOver(items: ControlItems): MemoryControlStore {
  const { jobs, progressRows, suspicions, registries } = items;

  const store = (job: string, channel: Channel, progress: Progress): void => {
    const name = nameOf(job, progress.generation, channel);
    progressRows.set(name, structuredClone({ job, channel, progress }));
  };

  const judgeBirth = ({ job: name, channel, progress, finishedParentIds, hold }: Birth) => {
    const job = jobs.get(name);
    const isOpen = job?.status === 'running' && (job.hold === undefined || job.hold.id === hold);
    if (!isOpen || job.generation !== progress.generation) return 'job-changed';
    if (progressRows.has(nameOf(name, progress.generation, channel))) return 'exists';
    const areFinished = finishedParentIds.every((shardId) => {
      const parent = nameOf(name, progress.generation, { ...channel, shardId });
      return progressRows.get(parent)?.progress.isFinished === true;
    });
    return areFinished ? 'born' : 'parents-unfinished';
  };

  return {
    async readJob(job) {
      return structuredClone(jobs.get(job));
    },

    async createJob(job) {
      const there = jobs.get(job.name);
      if (there === undefined) jobs.set(job.name, structuredClone(job));
      return structuredClone(there ?? job);
    },

    async replaceJob(job, expectedVersion) {
      assertNewer(`job ${job.name}`, job.version, expectedVersion);
      if (jobs.get(job.name)?.version !== expectedVersion) return 'conflict';
      jobs.set(job.name, structuredClone(job));
      return 'committed';
    },

    async readProgress(job, generation, channel) {
      return structuredClone(progressRows.get(nameOf(job, generation, channel))?.progress);
    },

    async bear(birth) {
      const outcome = judgeBirth(birth);
      if (outcome === 'born') store(birth.job, birth.channel, birth.progress);
      return outcome;
    },

    async commitProgress(job, channel, next, from) {
      const name = nameOf(job, next.generation, channel);
      const current = progressRows.get(name)?.progress;
      if (current === undefined || current.version !== next.version - 1) return 'conflict';
      if (!areSame(current.position, from)) return 'conflict';
      store(job, channel, next);
      return 'committed';
    },

    async fenceProgress(job, generation, channel, fence) {
      const name = nameOf(job, generation, channel);
      const current = progressRows.get(name)?.progress;
      if (current === undefined) return undefined;
      store(job, channel, { ...current, version: current.version + 1, fence });
      return structuredClone(progressRows.get(name)?.progress);
    },

    async createProgress(job, channel, progress) {
      if (progressRows.has(nameOf(job, progress.generation, channel))) return 'exists';
      store(job, channel, progress);
      return 'created';
    },

    async listChannels(job, generation) {
      return sorted(progressRows)
        .filter((row) => row.job === job && row.progress.generation === generation)
        .map((row) => structuredClone(row.channel));
    },

    async readRegistry(job) {
      return structuredClone(registries.get(job));
    },

    async writeRegistry(job, next) {
      if ((registries.get(job)?.version ?? 0) !== next.version - 1) return 'conflict';
      registries.set(job, structuredClone(next));
      return 'committed';
    },

    async readSuspicion(job, generation, channel) {
      return structuredClone(suspicions.get(nameOf(job, generation, channel)));
    },

    async writeSuspicion(job, generation, channel, next) {
      const name = nameOf(job, generation, channel);
      if ((suspicions.get(name)?.version ?? 0) !== next.version - 1) return 'conflict';
      suspicions.set(name, structuredClone(next));
      return 'committed';
    },

    progressRows() {
      return sorted(progressRows).map((row) => structuredClone(row));
    },

    copy: () => storeOver(structuredClone(items)),
  };
}

function nameOf(job: string, generation: number, channel: Channel): string {
  return `${job}#${generation}#${channelId(channel)}`;
}

function areSame(a: Position | undefined, b: Position | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return comparePositions(a, b) === 0;
}

function assertNewer(what: string, version: number, expectedVersion: number): void {
  if (version > expectedVersion) return;
  throw new HoldfastError(
    'internal',
    `${what}: a write of version ${version} replaces version ${expectedVersion}; versions only go up`,
  );
}

function sorted(rows: ReadonlyMap<string, MemoryProgressRow>): MemoryProgressRow[] {
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}
