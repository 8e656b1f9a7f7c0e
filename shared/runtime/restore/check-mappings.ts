import type { StreamMapping, StreamMappings } from '../../ports/stream-mappings.ts';
import { inParallel } from '../in-parallel.ts';
import type { ContractDifference } from './compare-contracts.ts';

/** What stands against a restore in how the stream is delivered, and what somebody may want to know. */
export interface MappingCheck {
  readonly differences: readonly ContractDifference[];
  readonly warnings: readonly string[];
}

const requestsMax = 8;

/**
 * R8: a mapping must never be ahead of us, so a deployed one must be what synth makes: somebody may have changed it since.
 *
 * @param stream the name of the job's stream
 */
export async function checkMappings(
  mappings: StreamMappings,
  operators: readonly string[],
  stream: string,
): Promise<MappingCheck> {
  const found = await inParallel(operators, requestsMax, async (operator) =>
    checkMapping(operator, await mappings.read(operator), stream),
  );
  return {
    differences: found.flatMap(({ differences }) => differences),
    warnings: found.flatMap(({ warnings }) => warnings),
  };
}

interface Rule {
  readonly isBroken: (mapping: StreamMapping, stream: string) => boolean;
  readonly describe: (mapping: StreamMapping, stream: string) => string;
  readonly remedy: string;
}

const rules: readonly Rule[] = [
  {
    isBroken: ({ source }) => source.includes('/consumer/'),
    describe: () => 'has enhanced fan-out, which takes aggregated records apart',
    remedy: 'use the shared throughput of the stream',
  },
  {
    isBroken: ({ source }, stream) => source.split(':stream/')[1]?.split('/')[0] !== stream,
    describe: ({ source }, stream) =>
      `reads ${source || 'nothing'}, the job reads stream ${stream}`,
    remedy: "let it read the job's stream",
  },
  {
    isBroken: ({ startingPosition }) => startingPosition !== 'TRIM_HORIZON',
    describe: ({ startingPosition }) =>
      `starts at ${startingPosition || 'an unknown position'}, so that it may be ahead of the job`,
    remedy: 'make it anew with TRIM_HORIZON',
  },
  {
    isBroken: ({ parallelizationFactor }) => parallelizationFactor !== 1,
    describe: ({ parallelizationFactor }) =>
      `has ParallelizationFactor ${parallelizationFactor}, so that batches of a shard come out of order`,
    remedy: 'set it to 1, and add shards to go faster',
  },
  {
    isBroken: ({ retriesMax }) => retriesMax !== -1,
    describe: ({ retriesMax }) =>
      `gives a batch up after ${retriesMax} retries, as those of a job that is held are`,
    remedy: 'set MaximumRetryAttempts to -1',
  },
  {
    isBroken: ({ recordAgeSecondsMax }) => recordAgeSecondsMax !== -1,
    describe: ({ recordAgeSecondsMax }) => `gives records up that are ${recordAgeSecondsMax} s old`,
    remedy: 'set MaximumRecordAgeInSeconds to -1',
  },
  {
    isBroken: ({ hasFilters }) => hasFilters,
    describe: () => 'has filters, which move it past records that the job has not seen',
    remedy: 'remove them, and filter in the operator',
  },
  {
    isBroken: ({ bisectsOnError }) => bisectsOnError,
    describe: () => 'cuts a batch in two where it fails',
    remedy: 'set BisectBatchOnFunctionError to false; the runtime isolates a poison record itself',
  },
  {
    isBroken: ({ tumblingWindowSeconds }) => tumblingWindowSeconds !== 0,
    describe: ({ tumblingWindowSeconds }) =>
      `has a tumbling window of ${tumblingWindowSeconds} s, in which batches are not acknowledged one by one`,
    remedy: "set TumblingWindowInSeconds to 0, and use the operator's windows",
  },
  {
    isBroken: ({ reportsItemFailures }) => !reportsItemFailures,
    describe: () => 'does not read from which record on a batch is handed back',
    remedy: 'set FunctionResponseTypes to ReportBatchItemFailures',
  },
];

function checkMapping(
  operator: string,
  mapping: StreamMapping | undefined,
  stream: string,
): MappingCheck {
  const what = `the event source mapping of operator ${operator}`;
  if (mapping === undefined) {
    const text = `${what} that was deployed is gone; what may be in its place nobody knows`;
    const remedy = 'remove what is there and deploy the job again';
    return { differences: [{ text, remedy, isLoss: false }], warnings: [] };
  }
  return {
    differences: rules
      .filter(({ isBroken }) => isBroken(mapping, stream))
      .map(({ describe, remedy }) => ({
        ...{ text: `${what} ${describe(mapping, stream)}`, remedy, isLoss: false },
      })),
    warnings: mapping.isEnabled
      ? []
      : [`${what} is disabled: the job is restored, and reads nothing new until it is enabled`],
  };
}
