import type { RandomSource } from '../../shared/core/random.ts';

/** What a simulated run has come to. */
export interface SimulationRun {
  /** Problems that the auditors have found, in order; none in a run that is right. */
  readonly findings: readonly string[];
  /**
   * Every step of the scheduler: `<process> before|after <call>`, with ` ✝` behind it where the process died there. Lines that
   * begin with two spaces say what struck the step before: `  reply-lost: state.write k1`.
   */
  readonly trace: readonly string[];
  /** How many times each fault has hit each kind of call: `killed before × state.write`. */
  readonly strikes: ReadonlyMap<string, number>;
  /** How many times else something has happened that a run is there for, by its name in the plural: `splits`. @default nothing */
  readonly events?: ReadonlyMap<string, number>;
}

/**
 * One run. Everything that is left to chance in it comes from this one source, so that the same draws give the same run, step
 * by step.
 */
export type Simulate = (random: RandomSource) => Promise<SimulationRun>;
