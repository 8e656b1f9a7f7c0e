import type { MemorySink } from '../../../shared/adapters/memory/memory-sink.ts';
import type { RowRule } from '../../../shared/core/row-validity.ts';
import { readRowRule } from '../../../shared/runtime/restore/sweep.ts';
import type { Auditable } from '../engine/audit.ts';

/** What the auditors look at: the stores themselves, with everything of every generation. */
export interface Stores extends Auditable {
  /** The job's name. */
  readonly job: string;
  /** Where code of some flavours keeps entries to itself. No entry deletes then, so that a state tells all of its story. */
  readonly isQuiet?: (flavour: string, id: number) => boolean;
  /** The last time that the job has lost its tables; for a clone, that it never had any. @default never */
  readonly loss?: Loss;
}

/** R11: a moment from before which nothing is left but what was in the bucket. */
export interface Loss {
  /** Numbers of generations up to this one are from before it. */
  readonly generation: number;
  readonly objects: ReadonlyMap<string, Uint8Array>;
}

/** The stores as they look in one generation to somebody who reads the sinks by the row rule (R10). */
export function viewOf(stores: Stores, generation: number, rule: RowRule): Auditable {
  const { state, sinks } = stores;
  const show = (sink: MemorySink): MemorySink => ({
    ...sink,
    rows: () => sink.rows().filter((row) => rule({ ...row.source, position: row.position })),
  });
  return {
    ...stores,
    state: {
      ...state,
      rows: () => state.rows().filter(({ scope }) => scope.generation === generation),
    },
    sinks: {
      journal: show(sinks.journal),
      balance: show(sinks.balance),
      deadLetters: show(sinks.deadLetters),
    },
  };
}

export function readRule({ objects, job }: Stores, generation: number): Promise<RowRule> {
  return readRowRule({ objects, job }, generation);
}
