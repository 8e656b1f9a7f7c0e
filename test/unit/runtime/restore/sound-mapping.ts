import type { StreamMapping } from '../../../../shared/ports/stream-mappings.ts';

/** A mapping as StreamJob deploys it. */
export function soundMapping(stream: string, changes: Partial<StreamMapping> = {}): StreamMapping {
  return {
    source: `arn:aws:kinesis:eu-central-1:123456789012:stream/${stream}`,
    startingPosition: 'TRIM_HORIZON',
    parallelizationFactor: 1,
    retriesMax: -1,
    recordAgeSecondsMax: -1,
    hasFilters: false,
    bisectsOnError: false,
    tumblingWindowSeconds: 0,
    reportsItemFailures: true,
    isEnabled: true,
    ...changes,
  };
}
