import { DescribeStreamSummaryCommand } from '@aws-sdk/client-kinesis';
import { HoldfastError } from '../../core/errors.ts';
import type { StreamDescription } from '../../ports/shard-reader.ts';
import { request, type KinesisReaderOptions } from './reader-options.ts';

export async function describeStream(options: KinesisReaderOptions): Promise<StreamDescription> {
  const { client, stream } = options;
  const command = new DescribeStreamSummaryCommand({ StreamName: stream });
  const { StreamDescriptionSummary: summary } = await request(
    options,
    `describe stream ${stream}`,
    () => client.send(command),
  );
  const createdAtMs = summary?.StreamCreationTimestamp?.getTime();
  const retentionHours = summary?.RetentionPeriodHours;
  if (createdAtMs === undefined || retentionHours === undefined) {
    throw new HoldfastError(
      'invalid',
      `stream ${stream} is described without its creation time or retention, which positions rest on; read it from an endpoint that tells them`,
    );
  }
  return { incarnation: { name: stream, createdAtMs }, retentionHours };
}
