import type { Scratch } from './scratch.ts';

/** A value of a table's row; what was not measured is undefined. */
export type Cell = string | number | undefined;

/** A column: the field of its rows, and how people read it. */
export interface BenchColumn {
  /** The field in `bench/results/<name>.json`; numbers end with their unit. */
  readonly field: string;
  readonly heading: string;
  /** Digits behind the decimal point of numbers. @default 0 */
  readonly digits?: number;
}

export interface BenchTable {
  readonly title: string;
  readonly columns: readonly BenchColumn[];
  readonly rows: readonly Readonly<Record<string, Cell>>[];
}

export interface BenchContext {
  /** Everything small: shows that the bench works, not how fast anything is. */
  readonly isQuick: boolean;
  /** Where the bench may write, and start processes; gone when it ends. */
  readonly scratch: Scratch;
  /** Tells people how far it is. */
  readonly log: (line: string) => void;
}

/** A module that measures one thing, in one run: variants take turns, so that a slow minute of the machine meets them all. */
export interface Bench {
  /** Names it on the command line, and its results. */
  readonly name: string;
  readonly what: string;
  /** The first table has the ratios. */
  readonly run: (context: BenchContext) => Promise<readonly BenchTable[]>;
}
