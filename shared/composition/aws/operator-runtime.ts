import { createDynamodbAppendSink } from '../../adapters/dynamodb/dynamodb-append-sink.ts';
import { createDynamodbControlStore } from '../../adapters/dynamodb/dynamodb-control-store.ts';
import { createDynamodbDeadLetterSink } from '../../adapters/dynamodb/dynamodb-dead-letter-sink.ts';
import { createDynamodbStateStore } from '../../adapters/dynamodb/dynamodb-state-store.ts';
import { createDynamodbUpsertSink } from '../../adapters/dynamodb/dynamodb-upsert-sink.ts';
import { createWriteModeProbe } from '../../adapters/dynamodb/probe-write-mode.ts';
import { createKinesisShardReader } from '../../adapters/kinesis/kinesis-shard-reader.ts';
import { createS3ObjectStore } from '../../adapters/s3/s3-object-store.ts';
import { createEmbeddedMetrics } from '../../adapters/system/embedded-metrics.ts';
import { nodeSystem } from '../../adapters/system/node-system.ts';
import type { OperatorEnvironment } from '../../config/environment.ts';
import { deadLetterSink } from '../../core/emission.ts';
import { assertMaxParallelism } from '../../core/key-group.ts';
import { createOperatorInstance } from '../../operator/operator-instance.ts';
import type { Operator } from '../../operator/operator.ts';
import type { SinkDescriptor } from '../../operator/sink.ts';
import type { Sink } from '../../ports/sink.ts';
import { createEnvironmentMemory } from '../../runtime/environment-memory.ts';
import type { OperatorRuntime, RuntimeSettings } from '../../runtime/operator-runtime.ts';
import { createAwsClients, type AwsClients } from './clients.ts';

/** The runtime of an operator over the tables, bucket and stream that its environment names. */
export function createAwsRuntime(
  operator: Operator,
  environment: OperatorEnvironment,
  options: { readonly hasOwnEndpoint: boolean; readonly settings: RuntimeSettings },
): OperatorRuntime {
  assertMaxParallelism(environment.maxParallelism);
  const clients = createAwsClients(options.hasOwnEndpoint);
  const client = clients.dynamodb;
  const system = nodeSystem;
  const objects = createS3ObjectStore({ client: clients.s3, bucket: environment.bucket, system });
  // Asked of AWS, too: it documents SET with REMOVE and conditions with OR in PartiQL by their grammar alone.
  const writeMode = createWriteModeProbe({ client, table: environment.stateTable, system });
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
