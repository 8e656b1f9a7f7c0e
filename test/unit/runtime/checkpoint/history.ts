import { channelId } from '../../../../shared/core/channel.ts';
import { unpackEmissions, type Emission } from '../../../../shared/core/emission.ts';
import { findOwner } from '../../../../shared/core/key-cuts.ts';
import type { Manifest, SortedRun } from '../../../../shared/core/manifest.ts';
import { comparePositions, formatPosition, isPast } from '../../../../shared/core/position.ts';
import { seededRandom } from '../../../../shared/core/random.ts';
import { decodeRunFile, type RunEntry } from '../../../../shared/core/run-file.ts';
import { decodeSegment } from '../../../../shared/core/segment.ts';
import type { ObjectStore } from '../../../../shared/ports/object-store.ts';
import { segmentName } from '../../../../shared/runtime/object-names.ts';
import { createMortalEnvironment } from '../mortal-environment.ts';
import { jobName } from '../job-fixture.ts';
import { createRestorableJob, type RestorableJob } from '../restore/restorable-job.ts';

/** A job to which random things happen: the seed chooses them. */
export interface History extends RestorableJob {
  readonly random: () => number;
  readonly chance: (probability: number) => boolean;
  /** A whole number below `end`. */
  readonly upTo: (end: number) => number;
  /** Puts some records: new keys and old ones, deletes, outputs that are too large for an item. */
  put(): void;
  /** Reads on in some shard. The attempt may die at any of its writes, having read further than the next one will. */
  read(): Promise<void>;
  /** Reads all shards to their end. */
  readAll(): Promise<void>;
  split(): void;
  /** What a straight run over everything that was put appends, user by user. */
  expected(): ReadonlyMap<string, readonly number[]>;
}

export async function createHistory(seed: string, options = { shards: 2 }): Promise<History> {
  const random = seededRandom(seed);
  const restorable = await createRestorableJob(options);
  const { job } = restorable;
  const upTo = (end: number): number => Math.floor(random() * end);
  const events: { user: string; amount: number; isClosing: boolean }[] = [];
  const chance = (probability: number): boolean => random() < probability;

  const unread = async (shardId: string) => {
    const { generation } = (await job.control.readJob(jobName))!;
    const row = job.control
      .progressRows()
      .find((one) => one.channel.shardId === shardId && one.progress.generation === generation);
    const position = row?.progress.position;
    return job.records(shardId).filter(({ sequence }) => isPast({ sequence, sub: 0 }, position));
  };

  const attempt = async (shardId: string, records: number, diesAt: number | undefined) => {
    const some = (await unread(shardId)).slice(0, records);
    if (some.length === 0) return;
    const settings = { ...job.createEnvironment().runtime.settings, unitRecordsMax: 1 + upTo(12) };
    if (diesAt === undefined) {
      await job.createEnvironment({ settings }).deliver(some, { shardId });
      return;
    }
    let writes = 0;
    const countWrites = <Port extends object>(port: Port, name: keyof Port): Port => ({
      ...port,
      [name]: async (...args: unknown[]) => {
        writes += 1;
        if (writes === diesAt) mortal.die();
        return (port[name] as (...some: unknown[]) => unknown)(...args);
      },
    });
    const mortal = createMortalEnvironment(job, {
      state: countWrites(job.state, 'write'),
      objects: countWrites(job.objects, 'create'),
      control: countWrites(job.control, 'commitProgress'),
    });
    await mortal.deliver(some, shardId);
  };

  return {
    ...restorable,
    ...{ random, chance, upTo },
    put() {
      for (let count = 1 + upTo(12); count > 0; count -= 1) {
        const user = `user-${upTo(25)}`;
        const amount = 1 + upTo(100);
        const isClosing = chance(0.25);
        events.push({ user, amount, isClosing });
        job.put(user, {
          amount,
          ...(isClosing ? { kind: 'close' as const } : {}),
          ...(chance(0.04) ? { outputCharacters: 70_000 } : {}),
        });
      }
    },
    async read() {
      const shards = job.stream.shards();
      const { shardId } = shards[upTo(shards.length)]!;
      if (chance(0.4)) await attempt(shardId, 1 + upTo(40), 1 + upTo(5));
      else await attempt(shardId, 1 + upTo(12), undefined);
    },
    async readAll() {
      for (let round = 0; round < 4; round += 1) {
        for (const { shardId } of job.stream.shards()) await attempt(shardId, 10_000, undefined);
      }
    },
    split() {
      const open = job.stream.shards().filter(({ isClosed }) => !isClosed);
      job.stream.split(open[upTo(open.length)]!.shardId);
    },
    expected() {
      const totals = new Map<string, number>();
      const appended = new Map<string, number[]>();
      for (const { user, amount, isClosing } of events) {
        const total = (totals.get(user) ?? 0) + amount;
        totals.set(user, isClosing ? 0 : total);
        appended.set(user, [...(appended.get(user) ?? []), total]);
      }
      return appended;
    },
  };
}

/** What a key begins with where the state is loaded, as text that compares. */
export type Loaded = ReadonlyMap<string, string>;

/** The plainest merge there is: everything in memory, key by key. */
export async function mergePlainly(
  objects: ObjectStore,
  manifest: Manifest,
  runs: readonly SortedRun[] = manifest.runs,
  channels = manifest.channels,
): Promise<Loaded> {
  const entries = new Map<string, RunEntry[]>();
  const add = (entry: RunEntry): void => {
    const { key } = entry.item;
    entries.set(key, [...(entries.get(key) ?? []), entry]);
  };
  for (const { name } of runs.flatMap(({ files }) => files)) {
    decodeRunFile(await mustRead(objects, name), name).entries.forEach(add);
  }
  for (const { channel, progress, segments } of channels) {
    for (const reference of segments) {
      const { generation } = progress;
      const name = segmentName(jobName, generation, channelId(channel), reference);
      const { items } = decodeSegment(await mustRead(objects, name), name);
      for (const item of items) add({ generation, item });
    }
  }
  const merged = new Map<string, string>();
  for (const [key, all] of [...entries].sort(([a], [b]) => (a < b ? -1 : 1))) {
    merged.set(key, await mergeKey(objects, manifest, all));
  }
  return merged;
}

async function mergeKey(
  objects: ObjectStore,
  { channels, operators }: Manifest,
  all: readonly RunEntry[],
): Promise<string> {
  const last = all.reduce((best, one) => (compare(one, best) > 0 ? one : best));
  const { progress } = findOwner(channels, operators[0]!.id, last.item.key)!;
  const isPending = ({ position }: Emission): boolean =>
    progress.aheadMax !== undefined && isPast(position, progress.position);
  const pending = new Map<string, Emission>();
  const rows = new Map<string, Emission>();
  for (const entry of all.toSorted(compare)) {
    for (const emission of await emissionsOf(objects, entry)) {
      const { position, index, sink, row } = emission;
      if (isPending(emission)) {
        if (compare(entry, last) === 0)
          pending.set(`${formatPosition(position)}/${index}`, emission);
      } else if (operators[0]!.sinks.some((one) => one.name === sink && one.kind === 'upsert')) {
        const there = rows.get(`${sink}/${row}`);
        if (there === undefined || comparePositions(there.position, position) <= 0)
          rows.set(`${sink}/${row}`, emission);
      }
    }
  }
  const { keyGroup, version, position, arrivalMs, states, timers } = last.item;
  const order = (a: Emission, b: Emission): number =>
    comparePositions(a.position, b.position) || a.index - b.index;
  return JSON.stringify({
    ...{ generation: last.generation, keyGroup, version, position, arrivalMs, timers },
    states: states === undefined ? null : Buffer.from(states).toString('hex'),
    emissions: [...rows.values(), ...pending.values()].sort(order),
  });
}

function compare(a: RunEntry, b: RunEntry): number {
  return a.generation - b.generation || comparePositions(a.item.position, b.item.position);
}

async function emissionsOf(objects: ObjectStore, { item }: RunEntry): Promise<Emission[]> {
  const found: Emission[] = [];
  for (const { name } of item.spills) found.push(...unpackEmissions(await mustRead(objects, name)));
  if (item.emissions !== undefined) found.push(...unpackEmissions(item.emissions));
  return found;
}

async function mustRead(objects: ObjectStore, name: string): Promise<Uint8Array> {
  const bytes = await objects.read(name);
  if (bytes === undefined) throw new Error(`${name} is gone`);
  return bytes;
}
