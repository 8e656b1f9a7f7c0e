import { createDynamodbAppendSink } from '../../adapters/dynamodb/dynamodb-append-sink.ts';
import { createDynamodbControlStore } from '../../adapters/dynamodb/dynamodb-control-store.ts';
import { createDynamodbDeadLetterSink } from '../../adapters/dynamodb/dynamodb-dead-letter-sink.ts';
import { createDynamodbHintStore } from '../../adapters/dynamodb/dynamodb-hint-store.ts';
import { createDynamodbStateStore } from '../../adapters/dynamodb/dynamodb-state-store.ts';
import { createDynamodbUpsertSink } from '../../adapters/dynamodb/dynamodb-upsert-sink.ts';
import { createWriteModeProbe } from '../../adapters/dynamodb/probe-write-mode.ts';
import { createS3ObjectStore } from '../../adapters/s3/s3-object-store.ts';
import { createEmbeddedMetrics } from '../../adapters/system/embedded-metrics.ts';
import { nodeSystem } from '../../adapters/system/node-system.ts';
import type { OperatorEnvironment } from '../../config/environment.ts';
import { deadLetterSink } from '../../core/emission.ts';
import { assertMaxParallelism } from '../../core/key-group.ts';
import {
  createDeterminismGuard,
  guardOperator,
  type DeterminismGuard,
  type DeterminismMode,
} from '../../operator/determinism-guard.ts';
import { guardConnections, guardPlatform } from '../../operator/guard-platform.ts';
import { createOperatorInstance } from '../../operator/operator-instance.ts';
import type { Operator } from '../../operator/operator.ts';
import type { SinkDescriptor } from '../../operator/sink.ts';
import type { Sink } from '../../ports/sink.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import { createEnvironmentMemory } from '../../runtime/environment-memory.ts';
import type { OperatorRuntime, RuntimeSettings } from '../../runtime/operator-runtime.ts';
import { createAwsClients } from './clients.ts';
import { openShardReader } from './stream-access.ts';

/** The runtime of an operator over the tables, bucket and stream that its environment names. */
export function createAwsRuntime(
  operator: Operator,
  environment: OperatorEnvironment,
  options: {
    readonly hasOwnEndpoint: boolean;
    readonly settings: RuntimeSettings;
    /** @default 'count' */
    readonly determinism?: DeterminismMode;
  },
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
  const metrics = createEmbeddedMetrics({ job: environment.job, system });
  const guard = createGuard(operator, options.determinism ?? 'count', metrics);
  const guarded = guardOperator(operator, guard);
  return {
    job: environment.job,
    operator: guarded,
    instance: createOperatorInstance(guarded, guard),
    maxParallelism: environment.maxParallelism,
    settings: options.settings,
    state: createDynamodbStateStore(tableAccess(environment.stateTable)),
    hints: createDynamodbHintStore({ client, table: environment.stateTable, system }),
    control: createDynamodbControlStore({ client, table: environment.controlTable, system }),
    objects,
    reader: openShardReader(clients.kinesis, environment.streamArn),
    sinks,
    system,
    telemetry: publishCalls(metrics, guard),
    memory: createEnvironmentMemory(),
  };
}

/** Puts the platform behind a guard, which tells of the first call of each kind. */
function createGuard(
  operator: Operator,
  mode: DeterminismMode,
  telemetry: Telemetry,
): DeterminismGuard {
  guardPlatform();
  if (mode === 'strict') guardConnections();
  return createDeterminismGuard(operator.id, {
    mode,
    onFirstCall: ({ message, call, stack }) => {
      telemetry.log('warn', message, { operator: operator.id, call, stack });
    },
  });
}

/** Adds the calls that the guard has counted since the last invocation to the counters of this one. */
function publishCalls(telemetry: Telemetry, guard: DeterminismGuard): Telemetry {
  return {
    log: (level, message, fields) => {
      telemetry.log(level, message, fields);
    },
    publish(operator, counters) {
      const nonDeterministicCalls = counters.nonDeterministicCalls + guard.takeCalls();
      telemetry.publish(operator, { ...counters, nonDeterministicCalls });
    },
  };
}

type SinkTable = Parameters<typeof createDynamodbUpsertSink>[0];

function createSink(access: Omit<SinkTable, 'columns'>, descriptor: SinkDescriptor): Sink {
  const { columns } = descriptor;
  return descriptor.kind === 'append'
    ? createDynamodbAppendSink({ ...access, columns, delivery: descriptor.delivery })
    : createDynamodbUpsertSink({ ...access, columns });
}
