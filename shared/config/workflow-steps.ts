/*
 * The steps of the workflows by name: what the deployment asks for and what the function answers to.
 */

export const SAVEPOINT_STEPS = [
  'savepoint.register',
  'savepoint.choose-hold',
  'savepoint.take-hold',
  'savepoint.fence',
  'savepoint.let-go',
  'savepoint.cut',
  'savepoint.merge',
  'savepoint.verify',
  'savepoint.complete',
  'savepoint.stop',
  'savepoint.copy',
  'savepoint.give-up',
] as const;

export const RESTORE_STEPS = [
  'clone.validate',
  'clone.begin',
  'clone.copy',
  'clone.finish',
  'restore.prepare',
  'restore.check-copies',
  'restore.validate',
  'restore.recreate',
  'restore.begin-base',
  'restore.make-base',
  'restore.take-hold',
  'restore.fence',
  'restore.write-undo',
  'restore.reserve',
  'restore.load',
  'restore.compare',
  'restore.flip',
  'restore.plan-replay',
  'restore.replay',
  'restore.plan-outputs',
  'restore.bring-back',
  'restore.release',
  'restore.plan-sweep',
  'restore.sweep',
  'restore.finish',
  'restore.give-up',
  'restore.explain',
  'drill.delete',
  'drill.finish',
] as const;

/** What the command line asks the same function for, outside of a workflow. */
export const REQUEST_STEPS = [
  'job.describe',
  'job.resume',
  'savepoint.inspect',
  'copies.inspect',
  'savepoint.delete',
  'restore.check',
  'clone.check',
  'restore.cut-at-time',
  'restore.cut-at-position',
  'generation.delete',
  'generations.clean',
] as const;

export type SavepointStep = (typeof SAVEPOINT_STEPS)[number];
export type RestoreStep = (typeof RESTORE_STEPS)[number];
export type RequestStep = (typeof REQUEST_STEPS)[number];
export type WorkflowStep = SavepointStep | RestoreStep | RequestStep;

/** What errors of Holdfast's own are called in a workflow, by what has to be done about them; `Holdfast.` and the kind. */
export const STEP_ERROR_PREFIX = 'Holdfast.';

/** Errors that trying again does not help. */
export const FINAL_STEP_ERRORS = ['invalid', 'corrupt', 'fenced', 'conflict', 'internal'].map(
  (kind) => STEP_ERROR_PREFIX + kind,
);

/** A Map runs at most so many iterations at once, and has at most so many items here: its list stays small. */
export const PARTS_MAX = 40;
