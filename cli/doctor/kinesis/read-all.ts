import type { ShardReader, StreamRecord } from '../../../shared/ports/shard-reader.ts';

export interface ReadShard {
  readonly records: readonly StreamRecord[];
  readonly isEndOfShard: boolean;
}

/** How many pages a shard of a few records may have. */
const pagesMax = 30;

/** Reads a shard to its tip or its end. */
export async function readAll(
  reader: ShardReader,
  shardId: string,
  afterSequence?: string,
): Promise<ReadShard> {
  const records: StreamRecord[] = [];
  let pages = 0;
  for await (const page of reader.read(shardId, afterSequence)) {
    records.push(...page.records);
    pages += 1;
    if (page.isEndOfShard) return { records, isEndOfShard: true };
    if (page.isAtTip || pages >= pagesMax) break;
  }
  return { records, isEndOfShard: false };
}

export const textsOf = (records: readonly StreamRecord[]): string =>
  records.map(({ data }) => new TextDecoder().decode(data)).join(' ');
