import {
  GetEventSourceMappingCommand,
  type EventSourceMappingConfiguration,
  type LambdaClient,
} from '@aws-sdk/client-lambda';
import { HoldfastError } from '../../core/errors.ts';
import type { StreamMapping, StreamMappings } from '../../ports/stream-mappings.ts';
import type { System } from '../../ports/system.ts';
import { retry, type RetryPolicy } from '../system/backoff.ts';
import { classifyLambdaError, mapLambdaError } from './map-error.ts';

export interface LambdaStreamMappingsOptions {
  readonly client: LambdaClient;
  /** Operator → id of its event source mapping. */
  readonly mappings: ReadonlyMap<string, string>;
  readonly system: System;
  /** How long requests without success are tried again. */
  readonly retryPolicy?: RetryPolicy;
}

/** The event source mappings of a job's operators, as Lambda has them. */
export function createLambdaStreamMappings(options: LambdaStreamMappingsOptions): StreamMappings {
  const { client, mappings, system, retryPolicy } = options;
  return {
    async read(operator) {
      const id = mappings.get(operator);
      if (id === undefined) {
        throw new HoldfastError(
          'invalid',
          `operator ${operator} has no event source mapping here, expected one of: ${[...mappings.keys()].join(', ') || 'none is known'}; deploy the job with this operator`,
        );
      }
      try {
        return toMapping(
          await retry(
            system,
            () => client.send(new GetEventSourceMappingCommand({ UUID: id })),
            (error) => classifyLambdaError(error) === 'passing',
            retryPolicy,
          ),
        );
      } catch (error) {
        if (classifyLambdaError(error) === 'missing') return undefined;
        throw mapLambdaError(error, `read event source mapping ${id}`);
      }
    },
  };
}

/** With what Lambda does where nothing is said. */
function toMapping(found: EventSourceMappingConfiguration): StreamMapping {
  return {
    source: found.EventSourceArn ?? '',
    startingPosition: found.StartingPosition ?? '',
    parallelizationFactor: found.ParallelizationFactor ?? 1,
    retriesMax: found.MaximumRetryAttempts ?? -1,
    recordAgeSecondsMax: found.MaximumRecordAgeInSeconds ?? -1,
    // Filters under a key of somebody's own come encrypted, or not at all.
    hasFilters:
      (found.FilterCriteria?.Filters ?? []).length > 0 || found.FilterCriteriaError !== undefined,
    bisectsOnError: found.BisectBatchOnFunctionError ?? false,
    tumblingWindowSeconds: found.TumblingWindowInSeconds ?? 0,
    reportsItemFailures: (found.FunctionResponseTypes ?? []).includes('ReportBatchItemFailures'),
    isEnabled: !['Disabled', 'Disabling', 'Deleting'].includes(found.State ?? ''),
  };
}
