import { CfnEventSourceMapping, type IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';

export interface StreamMappingProps {
  readonly streamArn: string;
  readonly handler: IFunction;
  readonly batchSize: number;
  readonly batchingWindowSeconds: number;
  /** The bucket for what Lambda discards. */
  readonly discardedTo: string;
}

/**
 * The doorbell of an operator (R7, R8): it says that there are records, while the position is
 * ours. Spelled with the plain resource, so that every property on which correctness rests stands
 * here, defaults included.
 */
export function createStreamMapping(
  scope: Construct,
  id: string,
  props: StreamMappingProps,
): CfnEventSourceMapping {
  return new CfnEventSourceMapping(scope, id, {
    functionName: props.handler.functionName,
    eventSourceArn: props.streamArn,
    startingPosition: 'TRIM_HORIZON',
    batchSize: props.batchSize,
    maximumBatchingWindowInSeconds: props.batchingWindowSeconds,
    parallelizationFactor: 1,
    functionResponseTypes: ['ReportBatchItemFailures'],
    bisectBatchOnFunctionError: false,
    // No limit: what a batch cannot do now, it can do later. Poison is the runtime's business (P15).
    maximumRetryAttempts: -1,
    maximumRecordAgeInSeconds: -1,
    // The last resort, for what Lambda gives up all the same: a record too large to be handed over.
    destinationConfig: { onFailure: { destination: props.discardedTo } },
  });
}
