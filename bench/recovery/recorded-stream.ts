import { readFileSync, writeFileSync } from 'node:fs';
import type { Shard, StreamIncarnation } from '../../shared/core/channel.ts';
import { isPast } from '../../shared/core/position.ts';
import type { ShardReader, StreamRecord } from '../../shared/ports/shard-reader.ts';

/** The end of a stream of one shard: what is to be processed yet, in batches. Everything before it has been. */
export interface RecordedStream {
  readonly incarnation: StreamIncarnation;
  readonly retentionHours: number;
  readonly shard: Shard;
  readonly batches: readonly (readonly StreamRecord[])[];
}

/** Writes it to a file, so that processes can begin with it at once. */
export function storeStream(file: string, stream: RecordedStream): void {
  const batches = stream.batches.map((records) =>
    records.map(({ data, ...record }) => ({
      ...record,
      data: Buffer.from(data).toString('base64'),
    })),
  );
  writeFileSync(file, JSON.stringify({ ...stream, batches }));
}

/** Reads what {@link storeStream} wrote. */
export function loadStream(file: string): RecordedStream {
  const stored = JSON.parse(readFileSync(file, 'utf8')) as Omit<RecordedStream, 'batches'> & {
    readonly batches: readonly (readonly (Omit<StreamRecord, 'data'> & {
      readonly data: string;
    })[])[];
  };
  const batches = stored.batches.map((records) =>
    records.map((record) => ({
      ...record,
      data: new Uint8Array(Buffer.from(record.data, 'base64')),
    })),
  );
  return { ...stored, batches };
}

/** Reads the end of the stream, in one page. */
export function createRecordedReader(stream: RecordedStream): ShardReader {
  const { incarnation, retentionHours, shard, batches } = stream;
  return {
    describe: async () => ({ incarnation, retentionHours }),
    listShards: async () => [shard],
    async *read(_shardId, after) {
      const records = batches
        .flat()
        .filter(
          ({ sequence }) =>
            after === undefined || isPast({ sequence, sub: 0 }, { sequence: after, sub: 0 }),
        );
      yield { records, isAtTip: true, isEndOfShard: false };
    },
  };
}
