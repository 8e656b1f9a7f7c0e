import { paginateScan, type AttributeValue, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { channelId, type Channel } from '../../../shared/core/channel.ts';
import { comparePositions, formatPosition } from '../../../shared/core/position.ts';
import type { Progress } from '../../../shared/core/progress.ts';
import { decodeSegment, type Segment } from '../../../shared/core/segment.ts';
import type { StoredItem } from '../../../shared/core/stored-item.ts';
import { decodeStates } from '../../../shared/operator/key-state.ts';
import type { ObjectStore } from '../../../shared/ports/object-store.ts';
import { decodeStateItem } from '../../../shared/adapters/dynamodb/state-item.ts';
import { segmentName } from '../../../shared/runtime/object-names.ts';
import { bulkyLedger } from './bulky-ledger.ts';
import type { Input } from './input.ts';
import { jobName, openRuntime, tableName, type TableRole } from './ledger-job.ts';
import type { LocalStores } from './local-stores.ts';

type Row = Record<string, AttributeValue>;

/** A key as its item tells of it, without what differs between runs: version, attempts, emissions that are flushed. */
export interface KeyAtEnd {
  readonly position: string;
  readonly arrivalMs: number;
  /** Packed states in hex; undefined for a tombstone. */
  readonly states: string | undefined;
}

/** Everything that a job has written and that has to be the same, whatever happened on the way. */
export interface FinalTables {
  readonly states: Readonly<Record<string, KeyAtEnd>>;
  /** Whole rows, in the order of their keys. */
  readonly journal: readonly Row[];
  readonly balance: readonly Row[];
  readonly deadLetters: readonly Row[];
  /** The data of large dead letters, by object name. */
  readonly deadLetterObjects: Readonly<Record<string, string>>;
  /** The newest item of each key in the chain of segments that progress names: what a restore would load. */
  readonly changelog: Readonly<Record<string, KeyAtEnd>>;
  /** Keys that are said to be ahead. */
  readonly ahead: readonly string[];
  readonly progress: Pick<Progress, 'position' | 'aheadMax' | 'generation'>;
}

export async function readFinalTables(
  stores: LocalStores,
  jobId: string,
  input: Input,
): Promise<FinalTables> {
  const scan = (role: TableRole): Promise<Row[]> => scanTable(stores.dynamodb, jobId, role);
  const [state, journal, balance, deadLetters] = await Promise.all([
    scan('state'),
    scan('journal'),
    scan('balance'),
    scan('dead-letters'),
  ]);
  const { objects, control, reader } = openRuntime(jobId, input);
  const { incarnation } = await reader.describe();
  const channel: Channel = {
    operator: bulkyLedger.id,
    stream: incarnation,
    shardId: input.shardId,
  };
  const progress = await control.readProgress(jobName, 1, channel);
  if (progress === undefined) throw new Error('the channel has no progress');
  const changelog = await foldChangelog(objects, channel, progress);
  const { position, aheadMax, generation } = progress;
  return {
    states: byKey(state.filter(isKey).map(decodeStateItem)),
    journal,
    balance,
    deadLetters,
    deadLetterObjects: await readDeadLetterObjects(objects),
    changelog: byKey(changelog.items),
    ahead: changelog.ahead,
    progress: { position, aheadMax, generation },
  };
}

/** The text in the state of a key; undefined where it has none. */
export function historyOf(key: KeyAtEnd | undefined): unknown {
  if (key?.states === undefined) return undefined;
  return decodeStates(bulkyLedger, Buffer.from(key.states, 'hex'), '')[0];
}

/** The state items themselves, with what {@link FinalTables} leaves out. */
export async function readStateItems(stores: LocalStores, jobId: string): Promise<Row[]> {
  return (await scanTable(stores.dynamodb, jobId, 'state')).filter(isKey);
}

async function scanTable(client: DynamoDBClient, jobId: string, role: TableRole): Promise<Row[]> {
  const rows: Row[] = [];
  const scan = { TableName: tableName(jobId, role), ConsistentRead: true };
  for await (const page of paginateScan({ client }, scan)) rows.push(...(page.Items ?? []));
  return rows.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

function keyOf(row: Row): string {
  return JSON.stringify([row['pk']?.S, row['sk']?.S]);
}

/** Not one of the items with which the endpoint was asked what it can do. */
function isKey(row: Row): boolean {
  return row['pk']?.S?.startsWith('!') !== true;
}

async function foldChangelog(
  objects: ObjectStore,
  channel: Channel,
  progress: Progress,
): Promise<{ items: StoredItem[]; ahead: string[] }> {
  const readSegment = async (reference: { number: number; attempt: string }): Promise<Segment> => {
    const name = segmentName(jobName, progress.generation, channelId(channel), reference);
    const bytes = await objects.read(name);
    if (bytes === undefined) throw new Error(`segment ${name} is missing`);
    return decodeSegment(bytes, name);
  };
  if (progress.head === undefined) throw new Error('progress names no segment');
  const head = await readSegment(progress.head);
  const chain = [head, ...(await Promise.all(head.header.chain.map(readSegment)))];
  const newest = new Map<string, StoredItem>();
  for (const item of chain.flatMap((segment) => segment.items)) {
    const known = newest.get(item.key);
    if (known === undefined || comparePositions(item.position, known.position) > 0) {
      newest.set(item.key, item);
    }
  }
  return { items: [...newest.values()], ahead: head.header.ahead.map(({ key }) => key) };
}

async function readDeadLetterObjects(objects: ObjectStore): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const name of objects.list(`jobs/${jobName}/dead-letters/`)) {
    found[name] = Buffer.from((await objects.read(name)) ?? []).toString('hex');
  }
  return found;
}

function byKey(items: readonly StoredItem[]): Record<string, KeyAtEnd> {
  return Object.fromEntries(
    items
      .toSorted((a, b) => (a.key < b.key ? -1 : 1))
      .map(({ key, position, arrivalMs, states }) => [
        key,
        {
          position: formatPosition(position),
          arrivalMs,
          states: states === undefined ? undefined : Buffer.from(states).toString('hex'),
        },
      ]),
  );
}
