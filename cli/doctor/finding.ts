/** The services that Holdfast talks to, in the order in which they are probed. */
export const doctorServices = ['dynamodb', 's3', 'kinesis', 'lambda', 'workflows'] as const;

export type DoctorService = (typeof doctorServices)[number];

/**
 * What a capability is to Holdfast.
 *
 * - `needed`: without it something is wrong or does not run
 * - `adapted`: without it Holdfast does the same in another way
 * - `optional`: nothing is wrong without it
 */
export interface Need {
  readonly kind: 'needed' | 'adapted' | 'optional';
  /** What it is for, or what is done or missed without it. */
  readonly text: string;
}

/**
 * What a probe has found.
 *
 * - `works`: as AWS documents it
 * - `differs`: it answers, but otherwise
 * - `missing`: it is refused as something that is not known here
 * - `untried`: nothing is known, since something before it failed
 */
export type Finding =
  | { readonly result: 'works'; readonly note?: string }
  | { readonly result: 'differs'; readonly expected: string; readonly got: string }
  | { readonly result: 'missing'; readonly got: string }
  | { readonly result: 'untried'; readonly why: string };

export const works: Finding = { result: 'works' };

/** @param got what came instead; an empty text says that nothing came */
export function differs(expected: string, got: string): Finding {
  return { result: 'differs', expected, got: got === '' ? 'nothing' : got };
}

/** The first of several checks that is not as expected; `works` where all are. */
export function firstDifference(
  ...checks: readonly (readonly [holds: boolean, expected: string, got: string])[]
): Finding {
  const wrong = checks.find(([holds]) => !holds);
  return wrong === undefined ? works : differs(wrong[1], wrong[2]);
}

/** Asks one question about an endpoint, on resources that are its own. */
export interface Probe<Bed> {
  readonly capability: string;
  readonly need: Need;
  /** @default 30,000 */
  readonly timeLimitMs?: number;
  /** What it throws is judged by {@link judgeFailure}. */
  run(bed: Bed): Promise<Finding>;
}

/** A row of the report. */
export interface Diagnosis {
  readonly service: DoctorService;
  readonly capability: string;
  readonly need: Need;
  readonly finding: Finding;
}
