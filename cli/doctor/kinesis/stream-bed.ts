import {
  CreateStreamCommand,
  DeleteStreamCommand,
  DescribeStreamSummaryCommand,
  type KinesisClient,
} from '@aws-sdk/client-kinesis';
import { createKinesisShardReader } from '../../../shared/adapters/kinesis/kinesis-shard-reader.ts';
import { createKinesisShardWriter } from '../../../shared/adapters/kinesis/kinesis-shard-writer.ts';
import { nodeSystem } from '../../../shared/adapters/system/node-system.ts';
import type { ShardReader } from '../../../shared/ports/shard-reader.ts';
import type { ShardWriter } from '../../../shared/ports/shard-writer.ts';
import { doctorRetryPolicy } from '../clinic.ts';
import { pollUntil } from '../poll-until.ts';
import type { TemporaryResources } from '../temporary-resources.ts';

/** A stream of one shard for the probes alone, and the runtime's own way of using it. */
export interface StreamBed {
  readonly client: KinesisClient;
  readonly stream: string;
  readonly arn: string;
  readonly reader: ShardReader;
  readonly writer: ShardWriter;
}

export async function createStream(
  client: KinesisClient,
  temporary: TemporaryResources,
  what: string,
): Promise<StreamBed> {
  const stream = temporary.name(what);
  temporary.put(`stream ${stream}`, () =>
    client.send(new DeleteStreamCommand({ StreamName: stream, EnforceConsumerDeletion: true })),
  );
  await client.send(new CreateStreamCommand({ StreamName: stream, ShardCount: 1 }));
  await untilActive(client, stream);
  const summary = await describe(client, stream);
  const access = { client, stream, system: nodeSystem, retryPolicy: doctorRetryPolicy };
  return {
    ...{ client, stream, arn: summary?.StreamARN ?? '' },
    reader: createKinesisShardReader(access),
    writer: createKinesisShardWriter(access),
  };
}

/** Waits until a stream is made or resharded. */
export async function untilActive(client: KinesisClient, stream: string): Promise<void> {
  await pollUntil(async () => (await describe(client, stream))?.StreamStatus === 'ACTIVE', {
    ...{ limitMs: 60_000, what: `stream ${stream} to become active` },
  });
}

async function describe(client: KinesisClient, stream: string) {
  const reply = await client.send(new DescribeStreamSummaryCommand({ StreamName: stream }));
  return reply.StreamDescriptionSummary;
}
