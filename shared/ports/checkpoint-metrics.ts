/** How the checkpoints of a job are; names are those of the metrics. */
export interface CheckpointFigures {
  /** Completed in this tick of the coordinator. */
  readonly checkpointsCompleted: number;
  /** Failed or expired since the last one that completed. */
  readonly checkpointFailures: number;
  /** Since the newest complete one, ms; undefined before the first. */
  readonly checkpointAgeMs: number | undefined;
  /** From trigger to completion of the last one in this tick; undefined where there was none. */
  readonly checkpointDurationMs: number | undefined;
  /** Bytes of all files that the newest complete one lists; undefined before the first. */
  readonly checkpointBytes: number | undefined;
}

/** Where the coordinator says how it goes. Must not throw. */
export interface CheckpointMetrics {
  /** Once for each tick. */
  publish(figures: CheckpointFigures): void;
}
