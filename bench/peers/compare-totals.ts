import type { Totals } from '../embedded/counting-operator.ts';

/** Whether totals are what they are to be; says the first differences where they are not. */
export function findDifferences(
  expected: ReadonlyMap<string, Totals>,
  actual: ReadonlyMap<string, Totals>,
): readonly string[] {
  const keys = new Set([...expected.keys(), ...actual.keys()]);
  return [...keys].flatMap((key) => {
    const [want, got] = [expected.get(key), actual.get(key)];
    if (want !== undefined && want.count === got?.count && want.sum === got.sum) return [];
    return [`${key}: ${showTotals(got)}, expected ${showTotals(want)}`];
  });
}

/** @throws Error where a peer has kept anything else, with some of it */
export function assertTotals(
  peer: string,
  expected: ReadonlyMap<string, Totals>,
  actual: ReadonlyMap<string, Totals>,
): void {
  const differences = findDifferences(expected, actual);
  if (differences.length === 0) return;
  throw new Error(
    `${peer} has kept wrong totals of ${differences.length} keys of ${expected.size}, so its figures mean nothing: ${differences.slice(0, 3).join('; ')}`,
  );
}

function showTotals(totals: Totals | undefined): string {
  return totals === undefined ? 'nothing' : `${totals.count} with ${totals.sum}`;
}
