import type { Diagnosis } from './finding.ts';

export interface Verdict {
  /**
   * - `usable`: everything that is needed works
   * - `unusable`: something that is needed differs or is missing
   * - `unknown`: something that is needed could not be tried
   */
  readonly kind: 'usable' | 'unusable' | 'unknown';
  readonly text: string;
  /** 0, 1 and 2 in this order. */
  readonly exitCode: 0 | 1 | 2;
}

/** What the findings come to. What is broken counts more than what is not known. */
export function judge(diagnoses: readonly Diagnosis[]): Verdict {
  const needed = diagnoses.filter(({ need }) => need.kind === 'needed');
  const broken = needed.filter(({ finding }) => isBroken(finding.result));
  const untried = needed.filter(({ finding }) => finding.result === 'untried');
  if (broken.length > 0) {
    return {
      kind: 'unusable',
      text: `NOT USABLE: ${count(broken, 'thing')} that Holdfast needs ${broken.length === 1 ? 'does' : 'do'} not work here: ${names(broken)}`,
      exitCode: 1,
    };
  }
  if (untried.length > 0) {
    return {
      kind: 'unknown',
      text: `UNKNOWN: ${count(untried, 'thing')} that Holdfast needs could not be tried, of ${services(untried)}; everything else works or is adapted to`,
      exitCode: 2,
    };
  }
  const adapted = diagnoses.filter(
    ({ need, finding }) => need.kind === 'adapted' && finding.result !== 'works',
  );
  return {
    kind: 'usable',
    text: `USABLE: everything that Holdfast needs works${adapted.length === 0 ? '' : `, and it adapts to ${count(adapted, 'difference')}`}`,
    exitCode: 0,
  };
}

function isBroken(result: Diagnosis['finding']['result']): boolean {
  return result === 'differs' || result === 'missing';
}

function count(some: readonly unknown[], what: string): string {
  return `${some.length} ${what}${some.length === 1 ? '' : 's'}`;
}

function names(some: readonly Diagnosis[]): string {
  return some.map(({ service, capability }) => `${service}: ${capability}`).join('; ');
}

function services(some: readonly Diagnosis[]): string {
  return [...new Set(some.map(({ service }) => service))].join(', ');
}
