/** How the source stream is delivered to an operator's function, as it is deployed (R8). */
export interface StreamMapping {
  /** The ARN of the stream, or of a consumer with enhanced fan-out. */
  readonly source: string;
  /** `TRIM_HORIZON`, `LATEST` or `AT_TIMESTAMP`. */
  readonly startingPosition: string;
  /** Invocations at once for each shard. */
  readonly parallelizationFactor: number;
  /** -1 for no limit. */
  readonly retriesMax: number;
  /** s; -1 for no limit. */
  readonly recordAgeSecondsMax: number;
  readonly hasFilters: boolean;
  readonly bisectsOnError: boolean;
  /** s; 0 for none. */
  readonly tumblingWindowSeconds: number;
  /** An answer says from which record on to deliver again. */
  readonly reportsItemFailures: boolean;
  /** It delivers, or is about to. */
  readonly isEnabled: boolean;
}

/** The deployed mappings of a job. Reads alone. */
export interface StreamMappings {
  /** Undefined where the one that was deployed is gone. */
  read(operator: string): Promise<StreamMapping | undefined>;
}
