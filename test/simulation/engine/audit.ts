import { isDeepStrictEqual } from 'node:util';
import type { MemoryControlStore } from '../../../shared/adapters/memory/memory-control-store.ts';
import type { MemoryObjectStore } from '../../../shared/adapters/memory/memory-object-store.ts';
import type { MemorySink } from '../../../shared/adapters/memory/memory-sink.ts';
import type { MemoryStateStore } from '../../../shared/adapters/memory/memory-state-store.ts';
import type { MemoryShard, MemoryStream } from '../../../shared/adapters/memory/memory-stream.ts';
import { channelId, type Channel } from '../../../shared/core/channel.ts';
import { unpackEmissions } from '../../../shared/core/emission.ts';
import {
  comparePositions,
  formatPosition,
  isPast,
  type Position,
} from '../../../shared/core/position.ts';
import type { Progress } from '../../../shared/core/progress.ts';
import { decodeSegment, type Segment } from '../../../shared/core/segment.ts';
import type { StoredItem } from '../../../shared/core/stored-item.ts';
import { decodeStates } from '../../../shared/operator/key-state.ts';
import type { Operator } from '../../../shared/operator/operator.ts';
import { segmentName } from '../../../shared/runtime/object-names.ts';
import { jobName } from './job.ts';
import { withoutFlavour, type Part } from './ledger.ts';
import { tellStory, type Chapter } from './story.ts';

/** What the auditors look at: the stores themselves, behind no gate. */
export interface Auditable {
  readonly operator: Operator;
  readonly state: MemoryStateStore;
  readonly control: MemoryControlStore;
  readonly objects: MemoryObjectStore;
  readonly sinks: {
    readonly journal: MemorySink;
    readonly balance: MemorySink;
    readonly deadLetters: MemorySink;
  };
  readonly stream: MemoryStream;
  /** Everything that was put, by sequence number. */
  readonly entries: ReadonlyMap<string, readonly Part[]>;
}

/** What must hold at the moment at which a channel's progress has moved to `next`. */
export function auditCommit(
  world: Auditable,
  channel: Channel,
  next: Progress,
  from: Position | undefined,
): string[] {
  const findings: string[] = [];
  const cut = next.position;
  if (cut === undefined) return findings;
  const where = `${channel.shardId} at ${recordName(world, cut)}`;
  if (from !== undefined && comparePositions(cut, from) < 0)
    findings.push(`${where}: progress went back`);

  const shard = world.stream.shard(channel.shardId);
  const changelog = foldChangelog(world, channel, next);
  const ahead = new Map(changelog.ahead.map(({ key, position }) => [key, position]));
  for (const key of keysOf(world, shard, cut)) {
    const expected = expectAt(world, shard, key, cut);
    findings.push(...auditOutputs(world, where, channel, key, cut));
    findings.push(...auditState(world, where, shard, key, cut));
    const item = changelog.items.get(key);
    if (item === undefined) {
      findings.push(`${where}: the changelog lacks ${key}`);
      continue;
    }
    if (!isPast(item.position, cut)) {
      const history = historyOf(world, item);
      if (history !== expected.history) {
        findings.push(
          `${where}: the changelog has ${key} = ${history}, expected ${expected.history}`,
        );
      }
      continue;
    }
    if (next.aheadMax === undefined || isPast(item.position, next.aheadMax) || !ahead.has(key)) {
      findings.push(`${where}: ${key} is ahead in the changelog and not said to be`);
    }
    findings.push(...auditAheadItem(world, where, shard, item, cut));
  }
  const past = changelog.ahead.filter(({ position }) => isPast(position, cut));
  if (next.aheadMax === undefined && past.length > 0) {
    findings.push(`${where}: called exact with ${past.length} keys ahead`);
  }
  return findings;
}

/** Of the rows that a straight run appends, those that must be there. */
export interface CountedRows {
  readonly journal: (key: string, chapter: Chapter) => boolean;
  readonly deadLetters: (key: string, chapter: Chapter) => boolean;
}

export const everyRow: CountedRows = { journal: () => true, deadLetters: () => true };

/** What must hold once everything is processed. */
export function auditEnd(world: Auditable, counted: CountedRows = everyRow): string[] {
  const findings: string[] = [];
  const keys = keysPut(world);
  const rows = new Map(world.state.rows().map(({ item }) => [item.key, item]));
  const journal = world.sinks.journal.rows();
  const balances = new Map(world.sinks.balance.rows().map((row) => [row.key, row.value]));
  const deadLetters = world.sinks.deadLetters.rows();
  const story = tellStory(world.stream, world.entries);
  for (const key of keys) {
    const chapters = story.get(key) ?? [];
    const expected = {
      ...summarize(chapters),
      journal: rowsOf(chapters.filter((chapter) => counted.journal(key, chapter))),
      deadLetters: chapters.filter(
        (chapter) => chapter.isDeadLetter && counted.deadLetters(key, chapter),
      ).length,
    };
    const lost = chapters.findLastIndex((chapter) => !counted.journal(key, chapter));
    const item = rows.get(key);
    const actual: ExpectedKey = {
      history: item === undefined ? undefined : historyOf(world, item),
      journal: journal.filter((row) => row.key === key).map((row) => historyIn(row.value)),
      balance: balances.has(key) ? historyIn(balances.get(key)) : undefined,
      deadLetters: deadLetters.filter((row) => row.key === key).length,
    };
    if (!isDeepStrictEqual(actual, expected)) {
      findings.push(
        `end: ${key} is ${JSON.stringify(actual)}, expected ${JSON.stringify(expected)}`,
      );
    }
    findings.push(
      ...auditStory(
        key,
        journal
          .filter((row) => row.key === key)
          .map((row) => rawHistoryIn(row.value))
          .slice(expected.journal.length - rowsOf(chapters.slice(lost + 1)).length),
        item === undefined ? undefined : rawHistoryOf(world, item),
        balances.has(key) ? rawHistoryIn(balances.get(key)) : undefined,
        lost >= 0,
      ),
    );
  }
  return findings;
}

function rowsOf(chapters: readonly Chapter[]): string[] {
  return chapters.flatMap(({ journal }) => journal);
}

/**
 * P2: whatever attempt made them, outputs tell one story, which is that of the state: each history goes on from the one
 * before, and the last one is the state's and the view's. Where a story is cut, these are the rows behind that.
 */
function auditStory(
  key: string,
  rows: readonly string[],
  state: string | undefined,
  balance: string | undefined,
  isCut: boolean,
): string[] {
  let last: string | undefined;
  for (const row of rows) {
    if (!row.startsWith(last ?? '')) return [`end: ${key} published ${row} after ${last}`];
    last = row.endsWith('.closed') ? undefined : row;
  }
  if (last === state && last === balance) return [];
  // None of its rows is left, or was ever this job's.
  if (rows.length === 0 && isCut && state === balance) return [];
  return [`end: ${key} published ${last} last, its state is ${state}, its view ${balance}`];
}

/** Reads the chain of segments that a progress names and keeps each key's newest item, as a restore would (C5, C6). */
export function foldChangelog(
  world: Pick<Auditable, 'objects'>,
  channel: Channel,
  progress: Progress,
): { items: Map<string, StoredItem>; ahead: Segment['header']['ahead'] } {
  const items = new Map<string, StoredItem>();
  const objects = world.objects.objects();
  const id = channelId(channel);
  const readSegment = (reference: { number: number; attempt: string }): Segment => {
    const name = segmentName(jobName, progress.generation, id, reference);
    const bytes = objects.get(name);
    if (bytes === undefined) throw new Error(`segment ${name} is missing`);
    return decodeSegment(bytes, name);
  };
  if (progress.head === undefined) return { items, ahead: [] };
  const head = readSegment(progress.head);
  const older = head.header.chain.map(readSegment);
  for (const segment of [head, ...older]) {
    for (const item of segment.items) {
      const known = items.get(item.key);
      if (known === undefined || comparePositions(item.position, known.position) > 0) {
        items.set(item.key, item);
      }
    }
  }
  return { items, ahead: head.header.ahead };
}

/** Every output up to the cut is in its sink, once, and says what a straight run says. */
function auditOutputs(
  world: Auditable,
  where: string,
  channel: Channel,
  key: string,
  cut: Position,
): string[] {
  const id = channelId(channel);
  const expected = chaptersOf(world, key)
    .filter(({ shardId, position }) => shardId === channel.shardId && !isPast(position, cut))
    .flatMap(({ journal }) => journal);
  const rows = world.sinks.journal
    .rows()
    .filter((row) => row.key === key && row.source.channel === id && !isPast(row.position, cut));
  const findings: string[] = [];
  const actual = rows.map((row) => historyIn(row.value));
  if (!isDeepStrictEqual(actual, expected)) {
    findings.push(
      `${where}: journal of ${key} is ${actual.join(' ')}, expected ${expected.join(' ')}`,
    );
  }
  for (const row of rows) {
    // The first output of each event, and the third of a deletion: its second goes to the other sink.
    const index = historyIn(row.value).endsWith('.closed') ? 2 : 0;
    if (!row.id.endsWith(`#${index}`))
      findings.push(`${where}: ${row.id} should end with ${index}`);
  }
  return findings;
}

/** Progress never passes committed state. */
export function auditState(
  world: Auditable,
  where: string,
  shard: MemoryShard,
  key: string,
  cut: Position,
): string[] {
  const item = world.state.rows().find((row) => row.item.key === key)?.item;
  if (item === undefined) {
    // Of a deleted key nothing has to be left.
    const isDeleted = expectAt(world, shard, key, cut).history === undefined;
    return isDeleted ? [] : [`${where}: ${key} has no item`];
  }
  const last = chaptersUpTo(world, shard, key, cut).at(-1);
  if (last?.shardId === shard.shardId && isPast(last.position, item.position)) {
    return [`${where}: the item of ${key} is behind progress`];
  }
  const lost = auditPurse(world.operator, where, item);
  const actual = historyOf(world, item);
  const expected = expectAt(world, shard, key, item.position).history;
  if (actual === expected) return lost;
  return [`${where}: the item of ${key} is ${actual}, expected ${expected}`];
}

/** No money comes from nowhere, and none is lost. */
export function auditPurse(operator: Operator, where: string, item: StoredItem): string[] {
  if (item.states === undefined) return [];
  const pockets = decodeStates(operator, item.states, item.key)[2] as ReadonlyMap<string, number>;
  const sum = [...(pockets ?? [])].reduce((total, [, amount]) => total + amount, 0);
  return sum === 0 ? [] : [`${where}: the purse of ${item.key} holds ${sum}, expected 0`];
}

/** A key that is ahead tells what it is at its own position, and carries every emission past the cut (P3). */
function auditAheadItem(
  world: Auditable,
  where: string,
  shard: MemoryShard,
  item: StoredItem,
  cut: Position,
): string[] {
  const findings: string[] = [];
  const expected = expectAt(world, shard, item.key, item.position);
  const history = historyOf(world, item);
  if (history !== expected.history) {
    findings.push(`${where}: ${item.key} is ahead as ${history}, expected ${expected.history}`);
  }
  const before = expectAt(world, shard, item.key, cut).journal.length;
  const carried = (item.emissions === undefined ? [] : unpackEmissions(item.emissions))
    .filter((emission) => emission.sink === 'journal' && isPast(emission.position, cut))
    .map((emission) => historyIn(emission.value));
  if (!isDeepStrictEqual(carried, expected.journal.slice(before))) {
    findings.push(`${where}: ${item.key} is ahead without its emissions past the cut`);
  }
  return findings;
}

/** The keys that have come to something in a shard up to a cut. */
export function keysOf(world: Auditable, shard: MemoryShard, cut: Position): Set<string> {
  return new Set(
    [...keysPut(world)].filter((key) =>
      chaptersUpTo(world, shard, key, cut).some(({ shardId }) => shardId === shard.shardId),
    ),
  );
}

function keysPut({ entries }: Auditable): Set<string> {
  return new Set([...entries.values()].flat().map(({ key }) => key));
}

function expectAt(world: Auditable, shard: MemoryShard, key: string, cut: Position): ExpectedKey {
  return summarize(chaptersUpTo(world, shard, key, cut));
}

/** A key's chapters in the shards before this one, which have smaller numbers, and in this one up to a cut. */
function chaptersUpTo(
  world: Auditable,
  shard: MemoryShard,
  key: string,
  cut: Position,
): readonly Chapter[] {
  return chaptersOf(world, key).filter(
    ({ shardId, position }) =>
      shardId < shard.shardId || (shardId === shard.shardId && !isPast(position, cut)),
  );
}

const stories = new WeakMap<object, ReturnType<typeof tellStory>>();

/** All entries are put before the first commit, so that the story is told once. */
function chaptersOf(world: Auditable, key: string): readonly Chapter[] {
  let story = stories.get(world.entries);
  if (story === undefined) {
    story = tellStory(world.stream, world.entries);
    stories.set(world.entries, story);
  }
  return story.get(key) ?? [];
}

interface ExpectedKey {
  readonly history: string | undefined;
  readonly journal: readonly string[];
  readonly balance: string | undefined;
  readonly deadLetters: number;
}

function summarize(chapters: readonly Chapter[]): ExpectedKey {
  const last = chapters.at(-1);
  return {
    history: last?.history,
    journal: chapters.flatMap(({ journal }) => journal),
    balance: last?.balance,
    deadLetters: chapters.filter(({ isDeadLetter }) => isDeadLetter).length,
  };
}

export function historyOf(
  world: Pick<Auditable, 'operator'>,
  item: StoredItem,
): string | undefined {
  const history = rawHistoryOf(world, item);
  return history === undefined ? undefined : withoutFlavour(history);
}

function rawHistoryOf(world: Pick<Auditable, 'operator'>, item: StoredItem): string | undefined {
  if (item.states === undefined) return undefined;
  return decodeStates(world.operator, item.states, item.key)[0] as string | undefined;
}

function historyIn(value: unknown): string {
  return withoutFlavour(rawHistoryIn(value));
}

function rawHistoryIn(value: unknown): string {
  return (value as { history: string }).history;
}

function recordName(world: Auditable, position: Position): string {
  const message = world.entries.get(position.sequence)?.[position.sub]?.message;
  if (message === undefined || message === 'garbage') return formatPosition(position);
  const step = position.step === undefined ? '' : ` behind ${position.step.name}`;
  if (message.kind === 'heartbeat') return `heartbeat of ${message.at}${step}`;
  return `entry ${message.id} of ${message.account}${step}`;
}
