/**
 * Settings of a Kinesis event source mapping that a job must not have (R8). They are not props of
 * the construct; Node runs the sources without checking types, so who sets one all the same is
 * told why it is refused.
 */
export const REFUSED_SETTINGS: ReadonlyMap<string, string> = new Map([
  [
    'parallelizationFactor',
    'more than one invocation for each shard breaks the order in which a channel commits; add shards to go faster',
  ],
  [
    'filters',
    'a filtered record moves the position of the mapping past our own, and a record that is no JSON is dropped silently; filter in the operator',
  ],
  [
    'enhancedFanOut',
    'a consumer with enhanced fan-out takes aggregated records apart and drops what does not fit; use the shared throughput of the stream',
  ],
  [
    'startingPosition',
    'LATEST loses what arrives while the mapping is being created or updated; a job starts at the oldest record (TRIM_HORIZON) and skips what it has committed',
  ],
  [
    'retryAttempts',
    'when retries run out Lambda discards the batch; poison records are dead-lettered one by one instead, and everything else is retried until it succeeds',
  ],
  [
    'maxRecordAge',
    'records that grow too old are discarded by Lambda; the retention of the stream is the only limit',
  ],
  [
    'bisectBatchOnError',
    'the runtime isolates a poison record by itself, and says exactly where it stopped',
  ],
  [
    'tumblingWindow',
    "windows of the mapping follow arrival time and are lost when a shard splits; use the operator's windows",
  ],
  [
    'onFailure',
    'discarded batches go to the checkpoint bucket as the last resort, where an operator of the job finds them',
  ],
]);
