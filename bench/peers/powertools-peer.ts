import { createTable } from '../embedded/counting-job.ts';
import type { CountedEvent } from '../embedded/counting-operator.ts';
import { loadPeerPackage } from './peer-packages.ts';
import { decodeData, type KinesisEvent, type KinesisEventRecord, type Peer } from './peer.ts';
import { createPlainClient } from '../embedded/plain-client.ts';
import { createTotalsTable } from '../embedded/totals-table.ts';

/** What is used of `@aws-lambda-powertools/batch`. */
interface BatchPackage {
  readonly BatchProcessor: new (eventType: string) => object;
  readonly EventType: { readonly KinesisDataStreams: string };
  readonly processPartialResponse: (
    event: KinesisEvent,
    handler: (record: KinesisEventRecord) => Promise<unknown>,
    processor: object,
    options: { readonly context: LambdaContext },
  ) => Promise<{ readonly batchItemFailures: readonly unknown[] }>;
}

/** What is used of `@aws-lambda-powertools/idempotency`. */
interface IdempotencyPackage {
  readonly IdempotencyConfig: new (options: { readonly eventKeyJmesPath: string }) => {
    registerLambdaContext(context: LambdaContext): void;
  };
  readonly makeIdempotent: (
    handler: (record: KinesisEventRecord) => Promise<unknown>,
    options: { readonly persistenceStore: object; readonly config: object },
  ) => (record: KinesisEventRecord) => Promise<unknown>;
}

/** What is used of `@aws-lambda-powertools/idempotency/dynamodb`. */
interface PersistencePackage {
  readonly DynamoDBPersistenceLayer: new (options: {
    readonly tableName: string;
    readonly awsSdkV3Client: object;
  }) => object;
}

interface LambdaContext {
  getRemainingTimeInMillis(): number;
}

/**
 * As AWS's guidance has it: every record is registered under its id, updated, and registered as done, all records of a batch at the
 * same time.
 */
export async function createPowertoolsPeer(runId: string): Promise<Peer> {
  const { BatchProcessor, EventType, processPartialResponse } = await loadPeerPackage<BatchPackage>(
    '@aws-lambda-powertools/batch',
  );
  const { IdempotencyConfig, makeIdempotent } = await loadPeerPackage<IdempotencyPackage>(
    '@aws-lambda-powertools/idempotency',
  );
  const { DynamoDBPersistenceLayer } = await loadPeerPackage<PersistencePackage>(
    '@aws-lambda-powertools/idempotency/dynamodb',
  );
  const dynamodb = createPlainClient();
  const table = createTotalsTable(dynamodb, `${runId}.totals`);
  const tableName = `${runId}.idempotency`;
  const persistenceStore = new DynamoDBPersistenceLayer({ tableName, awsSdkV3Client: dynamodb });
  const config = new IdempotencyConfig({ eventKeyJmesPath: 'eventID' });
  const context: LambdaContext = { getRemainingTimeInMillis: () => 60_000 };
  config.registerLambdaContext(context);
  const handle = makeIdempotent(
    async (record) => {
      await table.add(decodeData<CountedEvent>(record));
      return { done: true };
    },
    { persistenceStore, config },
  );
  const processor = new BatchProcessor(EventType.KinesisDataStreams);

  return {
    async prepare() {
      await table.create();
      await createTable(dynamodb, tableName, ['id']);
    },
    async deliver(event) {
      const batch = JSON.parse(event) as KinesisEvent;
      const answer = await processPartialResponse(batch, handle, processor, { context });
      const failures = answer.batchItemFailures.length;
      if (failures > 0) throw new Error(`${failures} records of a batch have failed`);
    },
    readTotals: () => table.read(),
    async close() {
      dynamodb.destroy();
    },
  };
}
