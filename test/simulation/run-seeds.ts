import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { describeThrown } from '../../shared/core/errors.ts';
import type { Kind } from './kinds.ts';
import { addTotals, noTotals, type SeedChunk, type Totals } from './seed-chunk.ts';

export interface SeedRange {
  readonly from: number;
  readonly seeds: number;
  /** @default each seed's own */
  readonly kind?: Kind;
  /** Workers that run seeds beside each other. @default one for each core, at most 4 */
  readonly jobs?: number;
  /** Goes on behind a seed that finds something. @default false */
  readonly isWhole?: boolean;
  /** Ends the workers at once; what they have come to by then is the result. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (totals: Totals) => void;
}

const jobsMax = 4;
/** So few that all workers end at about the same time. */
const chunkSeeds = 10;

export function defaultJobs(): number {
  return Math.min(jobsMax, availableParallelism());
}

/**
 * Runs a range of seeds in several threads. The seed that fails first is the same however many there are: chunks are handed out
 * in order, and those that have begun come to their end.
 *
 * @throws Error where a worker breaks down, with the seeds that it had
 */
export async function runSeeds(range: SeedRange): Promise<Totals> {
  const { from, seeds, jobs = defaultJobs(), isWhole = false, signal } = range;
  const end = from + seeds;
  let next = from;
  let totals = noTotals;
  const takeChunk = (): SeedChunk | undefined => {
    if (next >= end || (!isWhole && totals.failures.length > 0)) return undefined;
    const chunk = { from: next, seeds: Math.min(chunkSeeds, end - next), isWhole };
    next += chunk.seeds;
    return range.kind === undefined ? chunk : { ...chunk, kind: range.kind };
  };
  const work = async (): Promise<void> => {
    const worker = startWorker(signal);
    try {
      for (let chunk = takeChunk(); chunk !== undefined; chunk = takeChunk()) {
        const done = await worker.run(chunk);
        if (done === undefined) return;
        totals = addTotals(totals, done);
        range.onProgress?.(totals);
      }
    } finally {
      // Whoever breaks down ends it for all.
      next = Math.max(next, worker.isBroken() ? end : 0);
      await worker.end();
    }
  };
  const workers = Math.min(jobs, Math.ceil(seeds / chunkSeeds));
  const works = await Promise.allSettled(Array.from({ length: workers }, work));
  const broken = works.find((one) => one.status === 'rejected');
  if (broken !== undefined) throw broken.reason;
  return totals;
}

interface SeedWorker {
  /** Undefined where the worker was ended meanwhile. */
  run(chunk: SeedChunk): Promise<Totals | undefined>;
  isBroken(): boolean;
  end(): Promise<void>;
}

function startWorker(signal: AbortSignal | undefined): SeedWorker {
  const worker = new Worker(new URL('./seed-worker.ts', import.meta.url), { execArgv: [] });
  let isEnding = false;
  let breakdown: string | undefined;
  let onChange = (_totals?: Totals): void => undefined;
  const end = async (): Promise<void> => {
    isEnding = true;
    signal?.removeEventListener('abort', onAbort);
    await worker.terminate();
  };
  const onAbort = (): void => void end();
  signal?.addEventListener('abort', onAbort);
  worker.on('message', (totals: Totals) => onChange(totals));
  worker.on('error', (error: unknown) => (breakdown = describeThrown(error)));
  worker.on('exit', (code) => {
    if (!isEnding) breakdown ??= `it ended with exit code ${code}`;
    onChange();
  });
  return {
    end,
    isBroken: () => breakdown !== undefined,
    run: (chunk) =>
      new Promise((resolve, reject) => {
        onChange = (totals) => {
          if (breakdown === undefined) return resolve(totals);
          const last = chunk.from + chunk.seeds - 1;
          reject(new Error(`a worker broke down in seeds ${chunk.from} to ${last}: ${breakdown}`));
        };
        if (breakdown === undefined && !isEnding) worker.postMessage(chunk);
        else onChange();
      }),
  };
}
