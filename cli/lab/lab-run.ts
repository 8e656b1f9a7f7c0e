import {
  createMemoryAppendSink,
  type MemorySinkRow,
} from '../../shared/adapters/memory/memory-sink.ts';
import { createMemorySystem } from '../../shared/adapters/memory/memory-system.ts';
import { HoldfastError } from '../../shared/core/errors.ts';
import type { DeliveryGuarantee } from '../../shared/operator/sink.ts';
import type { SinkRow } from '../../shared/ports/sink.ts';
import { processBatch } from '../../shared/runtime/process-batch.ts';
import type { LabStream } from './lab-events.ts';
import {
  copyStores,
  createLabStores,
  readProgress,
  readState,
  readWindows,
  startProcess,
  type LabStores,
} from './lab-job.ts';

/**
 * What an idempotent sink tells rows apart by:
 * - `deterministic`: where the output was made, which is the same in every replay (P13).
 * - `processing-time`: that and the clock of the process at the time of writing.
 */
export type KeyPolicy = 'deterministic' | 'processing-time';

export interface LabRunOptions {
  /** A checkpoint is taken after every so many events. */
  readonly checkpointEvery: number;
  /** The process dies once this event is committed. @default it never does */
  readonly crashAfter?: number;
  readonly delivery: DeliveryGuarantee;
  readonly key: KeyPolicy;
}

/** Outputs that the sink was given between two starts of the process. */
export interface Written {
  readonly written: number;
  /** Rows that were in the table already. */
  readonly skipped: number;
}

/** What a checkpoint holds. */
export interface LabCheckpoint {
  /** The number of the last event in it; 0 for none. */
  readonly afterEvent: number;
  /** Null before the first event. */
  readonly watermark: number | null;
  readonly windows: Readonly<Record<string, number>>;
}

export interface LabRun {
  /** Undefined where nothing crashed. */
  readonly before: Written | undefined;
  readonly restored: LabCheckpoint | undefined;
  readonly after: Written;
  /** The sink's table at the end, in the order of the events. */
  readonly rows: readonly MemorySinkRow[];
  readonly windows: Readonly<Record<string, number>>;
  /** The windows as they are stored. */
  readonly state: Uint8Array;
}

interface Checkpoint {
  readonly afterEvent: number;
  readonly stores: LabStores;
}

/** How long the lab's clock says that an event takes, ms. */
const eventMs = 1000;

/** How long the lab's clock says that a process takes to start, ms. */
const startMs = 5000;

/**
 * Runs all events through the runtime, one invocation for each, over stores in memory. A crash loses the process with its
 * stores; the next process starts from the last checkpoint, which is older than what the sink has. The clock goes on.
 */
export async function runEvents(stream: LabStream, options: LabRunOptions): Promise<LabRun> {
  const { checkpointEvery, crashAfter, delivery, key } = options;
  const system = createMemorySystem({ seed: 'crash lab' });
  const idOf = (row: SinkRow): string =>
    key === 'deterministic' ? row.id : `${row.id}@${new Date(system.now()).toISOString()}`;
  const sink = createMemoryAppendSink({ delivery, idOf });
  let checkpoint: Checkpoint = { afterEvent: 0, stores: await createLabStores() };

  /** A process, from the last checkpoint to its end. */
  const live = async (lastEvent: number): Promise<Written & { readonly stores: LabStores }> => {
    const stores = copyStores(checkpoint.stores);
    const runtime = startProcess(stores, { stream: stream.stream, sink, system });
    system.advance(startMs);
    let written = 0;
    let skipped = 0;
    for (const { number, record } of stream.recordsPast(readProgress(stores)?.position)) {
      if (number > lastEvent) break;
      system.advance(eventMs);
      const outcome = await processBatch(runtime, stream.shardId, [record], {
        remainingMs: () => 60_000,
      });
      if (outcome.kind === 'handBack') throw refuse(number, outcome.reason);
      if (outcome.counters.deadLetters > 0) throw refuse(number, 'it went to the dead letters');
      written += outcome.counters.outputsWritten;
      skipped += outcome.counters.outputsSkipped;
      if (number % checkpointEvery === 0) {
        checkpoint = { afterEvent: number, stores: copyStores(stores) };
      }
    }
    return { written, skipped, stores };
  };

  const before = crashAfter === undefined ? undefined : await live(crashAfter);
  const restored = before === undefined ? undefined : describe(checkpoint);
  const { stores, ...after } = await live(Number.POSITIVE_INFINITY);
  return {
    before: before && { written: before.written, skipped: before.skipped },
    restored,
    after,
    rows: sink.rows(),
    windows: readWindows(stores),
    state: readState(stores),
  };
}

function describe({ afterEvent, stores }: Checkpoint): LabCheckpoint {
  return {
    afterEvent,
    watermark: readProgress(stores)?.watermarks.event ?? null,
    windows: readWindows(stores),
  };
}

function refuse(number: number, reason: string): HoldfastError {
  return new HoldfastError('internal', `crash lab: event ${number} was not processed: ${reason}`);
}
