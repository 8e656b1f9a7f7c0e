import { createMemoryShardReader } from '../../../shared/adapters/memory/memory-shard-reader.ts';
import { createMemoryStream } from '../../../shared/adapters/memory/memory-stream.ts';
import type { ShardReader, StreamRecord } from '../../../shared/ports/shard-reader.ts';
import type { Entry } from './bulky-ledger.ts';

/** Something that is no JSON, of so many bytes. Above 64 KB its data gets an object of its own. */
interface Garbage {
  readonly account: string;
  readonly garbageBytes: number;
}

export type Line = Entry | Garbage;

export const add = (account: string, id: number): Line => ({ account, id, kind: 'add' });
export const remove = (account: string, id: number): Line => ({ account, id, kind: 'delete' });

/** Everything that can happen to a key, twice where it matters what came before. The eighth is poison. */
export const ledgerLines: readonly Line[] = [
  add('anna', 1),
  add('bert', 2),
  add('anna', 3),
  { account: 'cleo', id: 4, kind: 'bulky' },
  remove('bert', 5),
  { account: 'dora', garbageBytes: 20 },
  add('anna', 7),
  { account: 'dora', id: 8, kind: 'throw' },
  add('cleo', 9),
  add('bert', 10),
  remove('anna', 11),
  { account: 'emil', garbageBytes: 70 * 1024 },
  remove('cleo', 13),
  add('anna', 14),
  add('bert', 15),
];

/** What is in the tables in the end, worked out with nothing of Holdfast. */
export interface ExpectedAccount {
  readonly state: string | undefined;
  readonly journal: readonly string[];
  readonly deadLetters: number;
}

export function expectAccounts(lines: readonly Line[]): Map<string, ExpectedAccount> {
  const accounts = new Map<string, ExpectedAccount>();
  for (const line of lines) {
    const before = accounts.get(line.account) ?? { state: undefined, journal: [], deadLetters: 0 };
    if ('garbageBytes' in line || line.kind === 'throw') {
      accounts.set(line.account, { ...before, deadLetters: before.deadLetters + 1 });
      continue;
    }
    const history = `${before.state ?? ''}/${line.id}`;
    const rows = line.kind === 'bulky' ? [`${history}.first`, `${history}.second`] : [history];
    accounts.set(line.account, {
      ...before,
      state: line.kind === 'delete' ? undefined : history,
      journal: [...before.journal, ...rows],
    });
  }
  return accounts;
}

export interface Input {
  readonly shardId: string;
  readonly records: readonly StreamRecord[];
  readonly reader: ShardReader;
}

/** One shard with the lines. Every process makes the very same one. */
export function createInput(lines: readonly Line[]): Input {
  const stream = createMemoryStream({ name: 'entries' });
  const encoder = new TextEncoder();
  for (const line of lines) {
    const text = 'garbageBytes' in line ? '{'.repeat(line.garbageBytes) : JSON.stringify(line);
    stream.put(line.account, encoder.encode(text));
  }
  const [shard] = stream.shards();
  if (shard === undefined) throw new Error('the stream has no shard');
  return {
    shardId: shard.shardId,
    records: shard.records,
    reader: createMemoryShardReader(stream),
  };
}
