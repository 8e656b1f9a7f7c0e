import { HoldfastError } from '../../core/errors.ts';
import { isPast, type Position } from '../../core/position.ts';
import type { ShardPage, ShardReader } from '../../ports/shard-reader.ts';
import type { MemoryStream } from './memory-stream.ts';

export interface MemoryShardReaderOptions {
  /** @default 10000, as GetRecords */
  readonly pageRecordsMax?: number;
}

/** Reads a {@link MemoryStream}. At the tip of an open shard it gives empty pages for as long as it is asked. */
export function createMemoryShardReader(
  stream: MemoryStream,
  options: MemoryShardReaderOptions = {},
): ShardReader {
  const pageRecordsMax = options.pageRecordsMax ?? 10_000;

  return {
    async describe() {
      return {
        incarnation: { ...stream.incarnation },
        retentionHours: stream.retentionHours,
      };
    },

    async listShards() {
      return stream.shards().map(({ shardId, range, parentIds }) => ({
        shardId,
        range: { ...range },
        parentIds: [...parentIds],
      }));
    },

    async *read(shardId, afterSequence) {
      let last = afterSequence;
      if (afterSequence !== undefined) assertReadable(stream, shardId, afterSequence);
      for (;;) {
        const page = readPage(stream, shardId, last, pageRecordsMax);
        last = page.records.at(-1)?.sequence ?? last;
        yield page;
        if (page.isEndOfShard) return;
      }
    },
  };
}

function assertReadable(stream: MemoryStream, shardId: string, sequence: string): void {
  if (stream.shard(shardId).records.some((record) => record.sequence === sequence)) return;
  throw new HoldfastError(
    'invalid',
    `cannot read ${stream.incarnation.name}/${shardId} after ${sequence}: the record has left the stream, so what came after it may have, too`,
  );
}

function readPage(
  stream: MemoryStream,
  shardId: string,
  after: string | undefined,
  recordsMax: number,
): ShardPage {
  const { records, isClosed } = stream.shard(shardId);
  const from = after === undefined ? 0 : firstPast(records, after);
  const page = records.slice(from, from + recordsMax);
  const isAtTip = from + page.length === records.length;
  return {
    records: page.map((record) => ({ ...record, data: new Uint8Array(record.data) })),
    isEndOfShard: isClosed && isAtTip,
    isAtTip,
  };
}

function firstPast(records: readonly { readonly sequence: string }[], after: string): number {
  let low = 0;
  let high = records.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isPast(positionOf(records[middle]!), { sequence: after, sub: 0 })) high = middle;
    else low = middle + 1;
  }
  return low;
}

function positionOf({ sequence }: { readonly sequence: string }): Position {
  return { sequence, sub: 0 };
}
