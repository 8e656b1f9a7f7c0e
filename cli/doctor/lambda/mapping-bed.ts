import { setTimeout as sleep } from 'node:timers/promises';
import { PutRecordsCommand } from '@aws-sdk/client-kinesis';
import {
  CreateEventSourceMappingCommand,
  DeleteEventSourceMappingCommand,
  type CreateEventSourceMappingCommandInput,
} from '@aws-sdk/client-lambda';
import { queryItems } from '../../../shared/adapters/dynamodb/query-items.ts';
import type { ClinicSupplies } from '../clinic.ts';
import { createStream, type StreamBed } from '../kinesis/stream-bed.ts';
import { PreparationError } from '../judge-failure.ts';
import { createBucket } from '../s3/bucket-bed.ts';
import { createWitness, type Witness } from './create-witness.ts';
import { deliveriesOf, type Delivery, type WitnessRecord } from './witness-orders.ts';

/** Records of a batch of the probes' mappings. */
export const mappingBatchSize = 4;

/** How long nothing new may come until nothing is expected any more, ms. */
const quietMs = 8_000;
const pauseMs = 500;

/** The witness, a stream to map to it, and a bucket for what is discarded. */
export interface MappingBed {
  readonly supplies: ClinicSupplies;
  readonly witness: Witness;
  readonly source: StreamBed;
  /** The shard that the source begins with. */
  readonly rootId: string;
  readonly bucket: string;
  /** Deliveries of the source, as the probes have last read them. */
  seen: readonly Delivery[];
}

export async function prepareMapping(supplies: ClinicSupplies): Promise<MappingBed> {
  const { clients, temporary } = supplies;
  const witness = await createWitness(supplies, 'function');
  const source = await createStream(clients.kinesis, temporary, 'source');
  const [root] = await source.reader.listShards();
  if (root === undefined) throw new PreparationError(`stream ${source.stream} has no shard`);
  const bucket = await createBucket(clients.s3, temporary, 'discarded');
  return { supplies, witness, source, rootId: root.shardId, bucket, seen: [] };
}

/** Makes a mapping as that of a job, but for its small batches. @returns its id */
export async function createMapping(
  { supplies, witness, bucket }: MappingBed,
  streamArn: string,
  changes: Partial<CreateEventSourceMappingCommandInput> = {},
): Promise<string> {
  const { client, name } = witness;
  const { UUID = '' } = await client.send(
    new CreateEventSourceMappingCommand({
      ...{ FunctionName: name, EventSourceArn: streamArn, StartingPosition: 'TRIM_HORIZON' },
      ...{ BatchSize: mappingBatchSize, MaximumBatchingWindowInSeconds: 0 },
      ...{ ParallelizationFactor: 1, FunctionResponseTypes: ['ReportBatchItemFailures'] },
      ...{ BisectBatchOnFunctionError: false, MaximumRetryAttempts: -1 },
      MaximumRecordAgeInSeconds: -1,
      DestinationConfig: { OnFailure: { Destination: `arn:aws:s3:::${bucket}` } },
      ...changes,
    }),
  );
  supplies.temporary.put(`event source mapping ${UUID}`, () =>
    client.send(new DeleteEventSourceMappingCommand({ UUID })),
  );
  return UUID;
}

/** Puts records one after the other, so that their order is that of their numbers. */
export async function putRecords(
  { client, stream }: StreamBed,
  records: readonly WitnessRecord[],
  hashKey = 0n,
): Promise<void> {
  for (const record of records) {
    const Data = new TextEncoder().encode(JSON.stringify(record));
    const one = { PartitionKey: 'doctor', ExplicitHashKey: hashKey.toString(), Data };
    await client.send(new PutRecordsCommand({ StreamName: stream, Records: [one] }));
  }
}

/** Reads what the witness has got of a stream, in order. */
export async function readDeliveries({ table }: Witness, streamArn: string): Promise<Delivery[]> {
  const found: Delivery[] = [];
  const query = { partition: deliveriesOf(streamArn), doing: 'read what the function has got' };
  for await (const { delivery } of queryItems(table, query)) {
    found.push(JSON.parse(delivery?.S ?? '') as Delivery);
  }
  return found;
}

/**
 * Waits until what came is enough, or nothing new has come for a while.
 *
 * @param limitMs at most so long
 */
export async function watchDeliveries(
  { witness, supplies, source }: MappingBed,
  isEnough: (deliveries: readonly Delivery[]) => boolean,
  limitMs: number,
): Promise<readonly Delivery[]> {
  const endMs = Date.now() + limitMs * supplies.patience;
  let lastNewMs = Date.now();
  let seen: readonly Delivery[] = [];
  for (;;) {
    const now = await readDeliveries(witness, source.arn);
    if (now.length > seen.length) lastNewMs = Date.now();
    seen = now;
    const isQuiet = Date.now() - lastNewMs > quietMs * supplies.patience;
    if (isEnough(seen) || isQuiet || Date.now() > endMs) return seen;
    await sleep(pauseMs);
  }
}
