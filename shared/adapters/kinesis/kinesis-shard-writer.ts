import { PutRecordsCommand, type PutRecordsCommandOutput } from '@aws-sdk/client-kinesis';
import { HoldfastError } from '../../core/errors.ts';
import { hashToDecimal, type KeyHash } from '../../core/key-group.ts';
import {
  shardDataBytesMax,
  shardPartitionKey,
  type ShardWriter,
} from '../../ports/shard-writer.ts';
import { defaultRetryPolicy, pauseAfter } from '../system/backoff.ts';
import { listShards } from './list-shards.ts';
import { mapKinesisError } from './map-error.ts';
import { isPassing, type KinesisRequestOptions } from './reader-options.ts';

/** Most records of one PutRecords. With {@link shardDataBytesMax} they stay within its 5 MB, too. */
const recordsOfRequestMax = 500;

/** A record that is not in yet. */
interface Refusal {
  readonly hash: KeyHash;
  readonly reason: string;
}

/** Writes to a Kinesis stream by shard. */
export function createKinesisShardWriter(options: KinesisRequestOptions): ShardWriter {
  return {
    listOpenShards: () => listShards(options, 'open'),
    putAt: (hashes, data) => putAt(options, hashes, data),
  };
}

async function putAt(
  options: KinesisRequestOptions,
  hashes: readonly KeyHash[],
  data: Uint8Array,
): Promise<void> {
  const { system, stream, retryPolicy = defaultRetryPolicy } = options;
  if (data.length > shardDataBytesMax) {
    throw new HoldfastError(
      'invalid',
      `cannot put records into the shards of stream ${stream}: each has ${data.length} bytes, at most ${shardDataBytesMax} are allowed`,
    );
  }
  let rest = hashes;
  for (let tried = 0; rest.length > 0; tried += 1) {
    const refused: Refusal[] = [];
    for (let at = 0; at < rest.length; at += recordsOfRequestMax) {
      refused.push(...(await putOnce(options, rest.slice(at, at + recordsOfRequestMax), data)));
    }
    if (refused.length > 0 && tried + 1 >= retryPolicy.attemptsMax) {
      throw describeRefusals(stream, refused, { of: hashes.length, tries: tried + 1 });
    }
    rest = refused.map(({ hash }) => hash);
    if (rest.length > 0) await pauseAfter(system, tried, retryPolicy);
  }
}

/** One request. Returns what is not known to be in, for it is taken or refused record by record. */
async function putOnce(
  { client, stream }: KinesisRequestOptions,
  hashes: readonly KeyHash[],
  data: Uint8Array,
): Promise<Refusal[]> {
  const command = new PutRecordsCommand({
    StreamName: stream,
    Records: hashes.map((hash) => ({
      PartitionKey: shardPartitionKey,
      ExplicitHashKey: hashToDecimal(hash),
      Data: data,
    })),
  });
  let reply: PutRecordsCommandOutput;
  try {
    reply = await client.send(command);
  } catch (error) {
    if (!isPassing(error)) throw mapKinesisError(error, `put records into stream ${stream}`);
    const reason = error instanceof Error ? error.name : String(error);
    return hashes.map((hash) => ({ hash, reason }));
  }
  return hashes.flatMap((hash, index) => {
    const entry = reply.Records?.[index];
    if (entry?.SequenceNumber !== undefined) return [];
    return [{ hash, reason: entry?.ErrorCode ?? 'no answer' }];
  });
}

function describeRefusals(
  stream: string,
  refused: readonly Refusal[],
  { of, tries }: { readonly of: number; readonly tries: number },
): HoldfastError {
  const reasons = [...new Set(refused.map(({ reason }) => reason))].join(', ');
  return new HoldfastError(
    'unavailable',
    `cannot put records into ${refused.length} of ${of} shards of stream ${stream} within ${tries} tries: ${reasons}, the first at hash ${refused[0]?.hash}; the other shards have theirs, try again`,
  );
}
