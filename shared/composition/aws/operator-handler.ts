import { createWriteModeProbe } from '../../adapters/dynamodb/probe-write-mode.ts';
import { createDynamodbAppendSink } from '../../adapters/dynamodb/dynamodb-append-sink.ts';
import { createDynamodbControlStore } from '../../adapters/dynamodb/dynamodb-control-store.ts';
import { createDynamodbDeadLetterSink } from '../../adapters/dynamodb/dynamodb-dead-letter-sink.ts';
import { createDynamodbStateStore } from '../../adapters/dynamodb/dynamodb-state-store.ts';
import { createDynamodbUpsertSink } from '../../adapters/dynamodb/dynamodb-upsert-sink.ts';
import { createKinesisShardReader } from '../../adapters/kinesis/kinesis-shard-reader.ts';
import {
  decodeKinesisEvent,
  encodeBatchResponse,
  type KinesisBatchResponse,
} from '../../adapters/kinesis/lambda-event.ts';
import { createS3ObjectStore } from '../../adapters/s3/s3-object-store.ts';
import { createEmbeddedMetrics } from '../../adapters/system/embedded-metrics.ts';
import { nodeSystem } from '../../adapters/system/node-system.ts';
import { ConfigurationError } from '../../config/configuration-error.ts';
import { readEnvironment, type OperatorEnvironment } from '../../config/environment.ts';
import { deadLetterSink } from '../../core/emission.ts';
import { assertMaxParallelism } from '../../core/key-group.ts';
import { createOperatorInstance } from '../../operator/operator-instance.ts';
import type { Operator } from '../../operator/operator.ts';
import type { SinkDescriptor } from '../../operator/sink.ts';
import type { Sink } from '../../ports/sink.ts';
import { createEnvironmentMemory } from '../../runtime/environment-memory.ts';
import {
  defaultSettings,
  type OperatorRuntime,
  type RuntimeSettings,
} from '../../runtime/operator-runtime.ts';
import { processBatch } from '../../runtime/process-batch.ts';
import { createAwsClients, hasOwnEndpoint, type AwsClients } from './clients.ts';

/** What the runtime needs of Lambda's context. */
interface InvocationContext {
  getRemainingTimeInMillis(): number;
}

export type OperatorHandler = (
  event: unknown,
  context: InvocationContext,
) => Promise<KinesisBatchResponse>;

export interface OperatorHandlerOptions {
  readonly settings?: Partial<RuntimeSettings>;
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
    settings: { ...defaultSettings, ...options.settings },
  });
  return async (event, context) => {
    if (isEmptyBatch(event)) return encodeBatchResponse(undefined);
    const batch = decodeKinesisEvent(event, environment.streamArn);
    const outcome = await processBatch(runtime, batch.shardId, batch.records, {
      remainingMs: () => context.getRemainingTimeInMillis(),
    });
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

function createAwsRuntime(
  operator: Operator,
  environment: OperatorEnvironment,
  options: { readonly hasOwnEndpoint: boolean; readonly settings: RuntimeSettings },
): OperatorRuntime {
  assertMaxParallelism(environment.maxParallelism);
  const clients = createAwsClients(options.hasOwnEndpoint);
  const client = clients.dynamodb;
  const system = nodeSystem;
  const objects = createS3ObjectStore({ client: clients.s3, bucket: environment.bucket, system });
  // AWS is known to take conditional writes in batches; of another endpoint this has to be found out.
  const writeMode = options.hasOwnEndpoint
    ? createWriteModeProbe({ client, table: environment.stateTable, system })
    : undefined;
  const tableAccess = (table: string) => ({ client, table, system, writeMode });
  const sinks = new Map<string, Sink>();
  for (const [name, descriptor] of operator.sinks) {
    sinks.set(name, createSink(tableAccess(environment.sinks.get(name)!), descriptor));
  }
  const deadLetters = { ...tableAccess(environment.deadLetterTable), objects };
  sinks.set(deadLetterSink, createDynamodbDeadLetterSink(deadLetters));
  return {
    job: environment.job,
    operator,
    instance: createOperatorInstance(operator),
    maxParallelism: environment.maxParallelism,
    settings: options.settings,
    state: createDynamodbStateStore(tableAccess(environment.stateTable)),
    control: createDynamodbControlStore({ client, table: environment.controlTable, system }),
    objects,
    reader: createReader(clients, environment.streamArn),
    sinks,
    system,
    telemetry: createEmbeddedMetrics({ job: environment.job, system }),
    memory: createEnvironmentMemory(),
  };
}

function createReader(clients: AwsClients, streamArn: string) {
  const stream = streamArn.slice(streamArn.lastIndexOf('/') + 1);
  return createKinesisShardReader({ client: clients.kinesis, stream, system: nodeSystem });
}

type SinkTable = Parameters<typeof createDynamodbUpsertSink>[0];

function createSink(access: Omit<SinkTable, 'columns'>, descriptor: SinkDescriptor): Sink {
  const { columns } = descriptor;
  return descriptor.kind === 'append'
    ? createDynamodbAppendSink({ ...access, columns, delivery: descriptor.delivery })
    : createDynamodbUpsertSink({ ...access, columns });
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
