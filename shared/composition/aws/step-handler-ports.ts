import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createS3ObjectStore } from '../../adapters/s3/s3-object-store.ts';
import { createDynamodbControlStore } from '../../adapters/dynamodb/dynamodb-control-store.ts';
import { createDynamodbAppendSink } from '../../adapters/dynamodb/dynamodb-append-sink.ts';
import { createDynamodbDeadLetterSink } from '../../adapters/dynamodb/dynamodb-dead-letter-sink.ts';
import { createDynamodbHintStore } from '../../adapters/dynamodb/dynamodb-hint-store.ts';
import { createDynamodbStateStore } from '../../adapters/dynamodb/dynamodb-state-store.ts';
import { createDynamodbUpsertSink } from '../../adapters/dynamodb/dynamodb-upsert-sink.ts';
import { createWriteModeProbe } from '../../adapters/dynamodb/probe-write-mode.ts';
import { createEmbeddedMetrics } from '../../adapters/system/embedded-metrics.ts';
import { nodeSystem } from '../../adapters/system/node-system.ts';
import type {
  ClonedJobPlace,
  DeployedSink,
  WorkflowEnvironment,
} from '../../config/workflow-environment.ts';
import { deadLetterSink } from '../../core/emission.ts';
import type { Sink, SinkRow, SinkTable, SweptSink } from '../../ports/sink.ts';
import type { ClonedJob, RestorePorts } from '../../runtime/restore/restore-order.ts';
import { createAwsClients, type AwsClients } from './clients.ts';
import { openJob } from './job-tools.ts';
import { openStreamMappings } from './operator-calls.ts';
import { openShardReader } from './stream-access.ts';

/** What the steps of the workflows need of a deployed job. */
export function openWorkflowPorts(
  environment: WorkflowEnvironment,
  hasOwnEndpoint: boolean,
): RestorePorts {
  const { job, stateTable, streamArn, operatorFunctions } = environment;
  const clients = createAwsClients(hasOwnEndpoint);
  const { dynamodb: client, kinesis } = clients;
  const system = nodeSystem;
  const ports = openJob(clients, environment, createEmbeddedMetrics({ job, system }));
  const writeMode = createWriteModeProbe({ client, table: stateTable, system });
  const deadLetters = createDynamodbDeadLetterSink({
    ...{ client, table: environment.deadLetterTable, system, writeMode },
    objects: ports.objects,
  });
  return {
    ...ports,
    state: createDynamodbStateStore({ client, table: stateTable, system, writeMode }),
    hints: createDynamodbHintStore({ client, table: stateTable, system }),
    reader: openShardReader(kinesis, streamArn),
    ...(environment.cloned === undefined
      ? {}
      : { cloned: openCloned(clients, environment.cloned) }),
    mappings: openStreamMappings(environment.mappings),
    sinks: [
      ...environment.sinks.map((deployed) => openSink(client, deployed)),
      ...[...operatorFunctions.keys()].map((operator) => ({
        ...{ operator, name: deadLetterSink },
        ...{ table: deadLetters, sink: deadLetters },
      })),
    ],
  };
}

function openCloned(clients: AwsClients, place: ClonedJobPlace): ClonedJob {
  return {
    job: place.job,
    control: createDynamodbControlStore({
      ...{ client: clients.dynamodb, table: place.controlTable, system: nodeSystem },
    }),
    objects: createS3ObjectStore({
      ...{ client: clients.s3, bucket: place.bucket, system: nodeSystem },
    }),
  };
}

/**
 * A sink as its operator writes it. Which columns are declared is known to the operator's code alone; the rows that are written
 * again have passed their schema, so their own fields are it.
 */
function openSink(
  client: DynamoDBClient,
  { operator, name, kind, table }: DeployedSink,
): SweptSink {
  // Whole rows: so none of the columns stays that only the row before had.
  const access = { client, table, system: nodeSystem, writeMode: 'conditional-put' } as const;
  const open = (columns: readonly string[]): Sink & SinkTable =>
    kind === 'append'
      ? createDynamodbAppendSink({ ...access, columns })
      : createDynamodbUpsertSink({ ...access, columns });
  const sink: Sink = { write: (source, rows) => open(columnsOf(rows)).write(source, rows) };
  return { operator, name, table: open([]), sink };
}

const columnPattern = /^(?!pk$|sk$)[A-Za-z][A-Za-z0-9_]*$/;

function columnsOf(rows: readonly SinkRow[]): string[] {
  const columns = rows.flatMap(({ emission: { value } }) =>
    typeof value === 'object' && value !== null ? Object.keys(value) : [],
  );
  return [...new Set(columns)].filter((column) => columnPattern.test(column)).sort();
}
