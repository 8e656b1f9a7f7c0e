/** The median of one number or more. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  if (upper === undefined) throw new RangeError('the median of no numbers was asked for');
  return sorted.length % 2 === 1 ? upper : (sorted[middle - 1]! + upper) / 2;
}

/** Measures variants in turns, round by round, and gives what each has measured. */
export async function takeTurns<Variant, Measured>(
  rounds: number,
  variants: readonly Variant[],
  measure: (variant: Variant, round: number) => Promise<Measured>,
): Promise<Measured[][]> {
  const measured = variants.map((): Measured[] => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, variant] of variants.entries()) {
      measured[at]!.push(await measure(variant, round));
    }
  }
  return measured;
}

/** How long something takes, ms. */
export async function timeMs(run: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await run();
  return performance.now() - startedMs;
}
