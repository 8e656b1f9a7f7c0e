import type { Shard } from '../../../shared/core/channel.ts';
import { differs, firstDifference, type Finding, type Probe } from '../finding.ts';
import { readAll, textsOf } from './read-all.ts';
import { isGreater } from './record-probes.ts';
import { mergeShards, middleHash, splitShard } from './reshard.ts';
import type { StreamBed } from './stream-bed.ts';

const need = { kind: 'needed', text: 'children wait for their parents' } as const;
const lastHash = 'f'.repeat(32);

const split: Probe<StreamBed> = {
  capability: 'a split: parent ids, ranges, the end of the parent',
  need,
  timeLimitMs: 60_000,
  run: async (bed) => {
    const { reader, writer } = bed;
    const [parent] = await reader.listShards();
    if (parent === undefined) return differs('a shard to split', '');
    const before = await readAll(reader, parent.shardId);
    const shards = await splitShard(bed, parent.shardId);
    const children = shards
      .filter(({ parentIds }) => parentIds.includes(parent.shardId))
      .sort((one, other) => (one.range.from < other.range.from ? -1 : 1));
    const after = await readAll(reader, parent.shardId);
    const open = await writer.listOpenShards();
    return firstDifference(
      [children.length === 2, 'two shards that name their parent', `${children.length}`],
      [
        children[1]?.range.from === middleHash && children[1].range.to === lastHash,
        `the upper half of the hash keys from ${middleHash} on`,
        `${children[1]?.range.from} to ${children[1]?.range.to}`,
      ],
      [
        textsOf(after.records) === textsOf(before.records),
        'the records of the closed parent',
        textsOf(after.records),
      ],
      [after.isEndOfShard, 'an end of the closed parent', 'another iterator'],
      [
        namesOf(open) === namesOf(children),
        `the children as open shards: ${namesOf(children)}`,
        namesOf(open),
      ],
    );
  },
};

const childPositions: Probe<StreamBed> = {
  capability: 'explicit hash keys, and positions past the parent',
  need: { kind: 'needed', text: 'heartbeats; positions compare along a lineage' },
  run: probeChildren,
};

const merge: Probe<StreamBed> = {
  capability: 'a merge: both parents are told',
  need,
  timeLimitMs: 60_000,
  run: async (bed) => {
    const [left, right] = await listChildren(bed);
    if (left === undefined || right === undefined) return differs('two shards to merge', '');
    const shards = await mergeShards(bed, [left, right]);
    const merged = shards.find(({ parentIds }) => parentIds.includes(left.shardId));
    return firstDifference([
      merged?.parentIds.includes(right.shardId) === true,
      `a shard with the parents ${namesOf([left, right])}`,
      merged === undefined ? 'no such shard' : merged.parentIds.join(', '),
    ]);
  },
};

export const reshardProbes = [split, childPositions, merge];

async function probeChildren(bed: StreamBed): Promise<Finding> {
  const { reader, writer } = bed;
  const children = await listChildren(bed);
  if (children.length !== 2) return differs('two open shards', namesOf(children));
  const [parent] = (await reader.listShards()).filter(({ parentIds }) => parentIds.length === 0);
  const last = (await readAll(reader, parent?.shardId ?? '')).records.at(-1);
  await writer.putAt(
    children.map(({ range }) => range.from),
    new TextEncoder().encode('child'),
  );
  const reads = await Promise.all(children.map(({ shardId }) => readAll(reader, shardId)));
  const texts = reads.map(({ records }) => textsOf(records)).join('; ');
  const early = reads
    .flatMap(({ records }) => records)
    .find(({ sequence }) => last === undefined || !isGreater(sequence, last.sequence));
  return firstDifference(
    [texts === 'child; child', 'a record in each child', texts],
    [
      early === undefined,
      `sequence numbers greater than ${last?.sequence}, the last of the parent`,
      `${early?.sequence}`,
    ],
  );
}

async function listChildren({ writer }: StreamBed): Promise<Shard[]> {
  const open = await writer.listOpenShards();
  return open.sort((one, other) => (one.range.from < other.range.from ? -1 : 1));
}

function namesOf(shards: readonly Shard[]): string {
  return shards
    .map(({ shardId }) => shardId)
    .sort()
    .join(', ');
}
