/*
 * How many requests what is done takes, as formulas. A test compares them with what is counted for 1 to 16 shards, request by request
 * (test/bench/scale.test.ts): whatever changes a request changes a line here.
 */

/** Requests by what they are for: the table, of the control table the kind of partition, and the operation. */
export type RequestCounts = Readonly<Record<string, number>>;

/** Statements of a BatchExecuteStatement. */
const statementsOfBatch = 25;

/** References in the header of a segment. */
const chainReferences = 64;

/** Units of warm environments, one for each invocation, of an operator without sinks. */
export function countUnits(units: number, keysOfUnit: number): RequestCounts {
  return {
    // P7: read at the start of an invocation, and swapped at its end.
    'control progress GetItem': units,
    'control progress PutItem': units,
    'state BatchExecuteStatement': units * Math.ceil(keysOfUnit / statementsOfBatch),
    'objects PutObject': units,
  };
}

/**
 * A tick of the coordinator that makes one checkpoint, not the first one, and neither merges, collects nor visits anything.
 *
 * @param channels of all operators
 * @param unitsSince units of each channel since the checkpoint before
 */
export function countTick(channels: number, unitsSince: number): RequestCounts {
  const headers = countHeaders(unitsSince);
  return {
    'control job GetItem': 6,
    'control registry GetItem': 7,
    // Pending, and complete.
    'control registry PutItem': 2,
    'control channels Query': 1,
    'control progress GetItem': channels,
    // The newest manifest for both lanes, whether it is complete, and whether what is pending stands.
    'objects GetObject': 5 + channels * headers,
    // The manifest, and a note that it is complete.
    'objects PutObject': 2,
  };
}

/** C5: headers of segments to read until all committed ones since the checkpoint before are known. The newest one is named by progress. */
export function countHeaders(unitsSince: number): number {
  return Math.ceil(Math.max(0, unitsSince - 1) / chainReferences);
}

export function sumCounts(counts: RequestCounts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** About how large a manifest is, bytes, with so many segments that no run holds. */
export function weighManifest(channels: number, segments: number): number {
  return 710 + 683 * channels + 88 * segments;
}
