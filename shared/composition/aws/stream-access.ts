import type { KinesisClient } from '@aws-sdk/client-kinesis';
import { createKinesisShardReader } from '../../adapters/kinesis/kinesis-shard-reader.ts';
import { createKinesisShardWriter } from '../../adapters/kinesis/kinesis-shard-writer.ts';
import { nodeSystem } from '../../adapters/system/node-system.ts';
import type { ShardReader } from '../../ports/shard-reader.ts';
import type { ShardWriter } from '../../ports/shard-writer.ts';

/** The reader of a deployed stream. @param stream its name or ARN */
export function openShardReader(client: KinesisClient, stream: string): ShardReader {
  return createKinesisShardReader({ client, stream: nameOf(stream), system: nodeSystem });
}

/** The writer of a deployed stream. @param stream its name or ARN */
export function openShardWriter(client: KinesisClient, stream: string): ShardWriter {
  return createKinesisShardWriter({ client, stream: nameOf(stream), system: nodeSystem });
}

function nameOf(stream: string): string {
  return stream.slice(stream.lastIndexOf('/') + 1);
}
