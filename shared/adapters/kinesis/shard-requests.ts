import {
  GetRecordsCommand,
  GetShardIteratorCommand,
  type GetRecordsCommandOutput,
} from '@aws-sdk/client-kinesis';
import { HoldfastError } from '../../core/errors.ts';
import { defaultRetryPolicy, pauseAfter, retry } from '../system/backoff.ts';
import { classifyKinesisError, mapKinesisError } from './map-error.ts';
import { isPassing, type KinesisReaderOptions } from './reader-options.ts';

/** The requests that reading one shard takes, in the pace that the service allows. */
export interface ShardRequests {
  /** At the record with this sequence number, or at the oldest one. */
  openIterator(sequence: string | undefined): Promise<string>;
  /** Waits until the shard may be asked again. */
  getRecords(iterator: string): Promise<GetRecordsCommandOutput | 'expired-iterator'>;
  /** The error for a record that is not there any more. */
  unreadable(sequence: string, cause?: unknown): HoldfastError;
}

export function createShardRequests(options: KinesisReaderOptions, shardId: string): ShardRequests {
  const { client, stream, system, pageRecordsMax = 10_000, requestIntervalMs = 250 } = options;
  const policy = options.retryPolicy ?? defaultRetryPolicy;
  const doing = `read shard ${shardId} of stream ${stream}`;
  let askedAtMs: number | undefined;

  const awaitTurn = async (): Promise<void> => {
    if (askedAtMs !== undefined) {
      const waitMs = askedAtMs + requestIntervalMs - system.now();
      // A clock that was set back must not make us wait for long.
      if (waitMs > 0) await system.sleep(Math.min(waitMs, requestIntervalMs));
    }
    askedAtMs = system.now();
  };

  const unreadable = (sequence: string, cause?: unknown): HoldfastError =>
    new HoldfastError(
      'invalid',
      `cannot read ${stream}/${shardId} after ${sequence}: the record has left the stream, so what came after it may have, too`,
      { cause },
    );

  return {
    async openIterator(sequence) {
      const command = new GetShardIteratorCommand({
        StreamName: stream,
        ShardId: shardId,
        ...(sequence === undefined
          ? { ShardIteratorType: 'TRIM_HORIZON' }
          : { ShardIteratorType: 'AT_SEQUENCE_NUMBER', StartingSequenceNumber: sequence }),
      });
      try {
        const reply = await retry(system, () => client.send(command), isPassing, policy);
        return reply.ShardIterator ?? '';
      } catch (error) {
        if (sequence !== undefined && classifyKinesisError(error) === 'bad-argument') {
          throw unreadable(sequence, error);
        }
        throw mapKinesisError(error, doing);
      }
    },

    async getRecords(iterator) {
      const command = new GetRecordsCommand({ ShardIterator: iterator, Limit: pageRecordsMax });
      for (let tried = 0; ; tried += 1) {
        await awaitTurn();
        try {
          return await client.send(command);
        } catch (error) {
          if (classifyKinesisError(error) === 'expired-iterator') return 'expired-iterator';
          if (!isPassing(error) || tried + 1 >= policy.attemptsMax) {
            throw mapKinesisError(error, doing);
          }
        }
        await pauseAfter(system, tried, policy);
      }
    },

    unreadable,
  };
}
