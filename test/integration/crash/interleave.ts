/** Every order in which two can take `steps` turns each. */
export function interleave(steps: number): readonly (readonly ('a' | 'b')[])[] {
  const extend = (a: number, b: number): ('a' | 'b')[][] => {
    if (a === 0 && b === 0) return [[]];
    return [
      ...(a > 0 ? extend(a - 1, b).map((rest) => ['a' as const, ...rest]) : []),
      ...(b > 0 ? extend(a, b - 1).map((rest) => ['b' as const, ...rest]) : []),
    ];
  };
  return extend(steps, steps);
}
