/** A rule that no change of the sources can break for a simulation to see, and why. */
export interface UnreachableRule {
  readonly rule: string;
  readonly reason: string;
}

export const unreachableRules: readonly UnreachableRule[] = [];
