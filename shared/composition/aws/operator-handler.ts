import {
  decodeKinesisEvent,
  encodeBatchResponse,
  type KinesisBatchResponse,
} from '../../adapters/kinesis/lambda-event.ts';
import { isWorkOrder, type EncodedWork } from '../../adapters/lambda/work-order.ts';
import { ConfigurationError } from '../../config/configuration-error.ts';
import {
  readEnvironment,
  type DeterminismSetting,
  type OperatorEnvironment,
} from '../../config/environment.ts';
import type { Operator } from '../../operator/operator.ts';
import { defaultSettings, type RuntimeSettings } from '../../runtime/operator-runtime.ts';
import { processBatch } from '../../runtime/process-batch.ts';
import { hasOwnEndpoint } from './clients.ts';
import { createAwsRuntime } from './operator-runtime.ts';
import { createWorkOrders } from './work-orders.ts';

/** What the runtime needs of Lambda's context. */
interface InvocationContext {
  getRemainingTimeInMillis(): number;
}

/** Answers a batch of records with what of it has to be delivered again, and a work order with its answer. */
export type OperatorHandler = (
  event: unknown,
  context: InvocationContext,
) => Promise<KinesisBatchResponse | EncodedWork>;

export interface OperatorHandlerOptions {
  readonly settings?: Partial<RuntimeSettings>;
  /**
   * What becomes of a callback that uses the clock, dice, timers, files, network or environment of the machine, so that a
   * replay may compute something else: `count` lets it, counts it in the metric `nonDeterministicCalls` and logs each kind
   * of call once; `strict` lets the record fail. The variable HOLDFAST_DETERMINISM overrides it; the local AWS sets it to
   * `strict`.
   *
   * @default 'count'
   */
  readonly determinism?: DeterminismSetting;
  /** @default the process's environment */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Makes the Lambda handler of an operator, wired to the tables, bucket and stream that the function's environment names.
 *
 * @throws ConfigurationError where the environment is not what the operator needs
 */
export function createOperatorHandler(
  operator: Operator,
  options: OperatorHandlerOptions = {},
): OperatorHandler {
  const env = options.env ?? process.env;
  const environment = readEnvironment(env);
  checkOperator(operator, environment);
  const runtime = createAwsRuntime(operator, environment, {
    hasOwnEndpoint: hasOwnEndpoint(env),
    determinism: environment.determinism ?? options.determinism ?? 'count',
    settings: { ...defaultSettings, ...options.settings },
  });
  const answerWorkOrder = createWorkOrders(runtime);
  return async (event, context) => {
    const deadline = { remainingMs: () => context.getRemainingTimeInMillis() };
    if (isWorkOrder(event)) return answerWorkOrder(event, deadline);
    if (isEmptyBatch(event)) return encodeBatchResponse(undefined);
    const batch = decodeKinesisEvent(event, environment.streamArn);
    const outcome = await processBatch(runtime, batch.shardId, batch.records, deadline);
    if (outcome.kind === 'done') return encodeBatchResponse(undefined);
    runtime.telemetry.log('warn', 'records handed back', {
      operator: operator.id,
      shard: batch.shardId,
      from: outcome.fromSequence,
      reason: outcome.reason,
    });
    return encodeBatchResponse(outcome.fromSequence);
  };
}

/** The code and the deployment must speak of the same operator and the same sinks. */
function checkOperator(operator: Operator, environment: OperatorEnvironment): void {
  const problems = [];
  if (operator.id !== environment.operator) {
    problems.push({
      name: 'HOLDFAST_OPERATOR',
      got: environment.operator,
      expected: operator.id,
      remedy: 'give the operator in StreamJob the id that defineOperator has, then deploy',
    });
  }
  const declared = [...operator.sinks.keys()].sort().join(', ');
  const deployed = [...environment.sinks.keys()].sort().join(', ');
  if (declared !== deployed) {
    problems.push({
      name: 'HOLDFAST_SINKS',
      got: deployed === '' ? 'no sinks' : deployed,
      expected: declared === '' ? 'no sinks' : declared,
      remedy: 'list in StreamJob exactly the sinks that defineOperator has, then deploy',
    });
  }
  if (problems.length > 0) throw new ConfigurationError(`operator ${operator.id}`, problems);
}

function isEmptyBatch(event: unknown): boolean {
  const records = (event as { Records?: unknown } | null | undefined)?.Records;
  return Array.isArray(records) && records.length === 0;
}
