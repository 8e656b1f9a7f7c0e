import type { KinesisClient } from '@aws-sdk/client-kinesis';
import { createKinesisShardWriter } from '../../adapters/kinesis/kinesis-shard-writer.ts';
import { nodeSystem } from '../../adapters/system/node-system.ts';
import type { ShardWriter } from '../../ports/shard-writer.ts';

/** The writer of a deployed stream. @param stream its name or ARN */
export function openShardWriter(client: KinesisClient, stream: string): ShardWriter {
  const name = stream.slice(stream.lastIndexOf('/') + 1);
  return createKinesisShardWriter({ client, stream: name, system: nodeSystem });
}
