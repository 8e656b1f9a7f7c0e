import type { KinesisClient } from '@aws-sdk/client-kinesis';
import type { System } from '../../ports/system.ts';
import { retry, type RetryPolicy } from '../system/backoff.ts';
import { classifyKinesisError, mapKinesisError } from './map-error.ts';

/** What every request to a stream needs. */
export interface KinesisRequestOptions {
  readonly client: KinesisClient;
  readonly stream: string;
  readonly system: System;
  /** How long throttled requests are tried again. */
  readonly retryPolicy?: RetryPolicy;
}

export interface KinesisReaderOptions extends KinesisRequestOptions {
  /** Most records of a page. @default 10000, the most that Kinesis gives */
  readonly pageRecordsMax?: number;
  /**
   * The least time between two requests for records of one shard. A shard serves five a second to all its readers
   * together, and the event source mappings poll, too.
   *
   * @default 250
   */
  readonly requestIntervalMs?: number;
}

/** Sends a request until it is served or refused for good. `doing` is, say, `describe stream s`. */
export async function request<Reply>(
  { system, retryPolicy }: KinesisRequestOptions,
  doing: string,
  send: () => Promise<Reply>,
): Promise<Reply> {
  try {
    return await retry(system, send, isPassing, retryPolicy);
  } catch (error) {
    throw mapKinesisError(error, doing);
  }
}

/** True for what may be asked again. */
export function isPassing(error: unknown): boolean {
  const failure = classifyKinesisError(error);
  return failure === 'throttled' || failure === 'passing';
}
