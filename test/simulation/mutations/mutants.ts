import { checkpointMutants } from './checkpoint-mutants.ts';
import { cloneMutants } from './clone-mutants.ts';
import { commitMutants } from './commit-mutants.ts';
import { hintMutants } from './hint-mutants.ts';
import type { Mutant } from './mutant.ts';
import { restoreMutants } from './restore-mutants.ts';
import { watermarkMutants } from './watermark-mutants.ts';
import { windowMutants } from './window-mutants.ts';

/** All of them, rule by rule. */
export const mutants: readonly Mutant[] = [
  ...commitMutants,
  ...watermarkMutants,
  ...hintMutants,
  ...windowMutants,
  ...checkpointMutants,
  ...restoreMutants,
  ...cloneMutants,
];
