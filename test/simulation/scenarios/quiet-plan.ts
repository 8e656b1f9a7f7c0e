import type { SystemPlan } from '../system/draw-plan.ts';

/** A plan in which nothing goes wrong by chance, and nothing begins by itself. */
export const quietPlan: SystemPlan = {
  shards: 1,
  hasOtherLogic: false,
  hasVersions: false,
  environments: 1,
  acts: [],
  actProbability: 0,
  faultProbability: 0,
  corruptShare: 0,
  staleProbability: 0,
  overlapProbability: 0,
  jumpProbability: 0,
  abortProbability: 0,
  hasteProbability: 0,
  skewProbability: 0,
  stepMs: 0,
  turnProbability: 0,
  retained: 3,
  mergeAfterSegments: 256,
  killProbability: 0,
  killsMax: 0,
  sleepProbability: 0,
  sleepStepsMax: 0,
};
