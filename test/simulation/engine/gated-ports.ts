import { HoldfastError } from '../../../shared/core/errors.ts';
import { channelId, type Shard } from '../../../shared/core/channel.ts';
import type { OperatorRuntime } from '../../../shared/runtime/operator-runtime.ts';
import { hintPartitions } from '../../../shared/ports/hint-store.ts';
import type { Sink } from '../../../shared/ports/sink.ts';
import type { WriteOutcome } from '../../../shared/ports/state-store.ts';
import type { Gate, StepOwner } from './gate.ts';

export type Ports = Pick<
  OperatorRuntime,
  'state' | 'control' | 'hints' | 'objects' | 'reader' | 'sinks'
>;

/**
 * What goes wrong with a write: it is refused and has no effect, or it has its effect and the reply is lost. To the caller
 * both look the same.
 */
export type WriteFault = 'none' | 'refused' | 'reply-lost';

/**
 * What goes wrong with a read: it is refused; a bit of an object's bytes has turned on the way; or the answer is of a while
 * ago, where the service says that it may be, which of all reads is the list of a stream's shards.
 */
export type ReadFault = 'none' | 'refused' | 'corrupted' | 'stale';

export interface DrawFault {
  (label: string): WriteFault;
  /** @default reads never fail */
  readonly ofRead?: (label: string) => ReadFault;
}

/**
 * The ports of one invocation, every call of which waits at the gate. Writes of several items become several steps, since
 * nothing makes them atomic; any write's reply can be lost.
 */
export function gatePorts(ports: Ports, gate: Gate, owner: StepOwner, draw: DrawFault): Ports {
  const drawRead = draw.ofRead ?? (() => 'none' as const);
  const refuse = (label: string): HoldfastError => {
    gate.strike('refused', label);
    return new HoldfastError('unavailable', `${label}: refused`);
  };
  const read = async <T>(label: string, effect: () => Promise<T>): Promise<T> => {
    if (drawRead(label) === 'refused') throw refuse(label);
    return gate.step(owner, label, effect);
  };
  const readBytes = async (
    label: string,
    effect: () => Promise<Uint8Array | undefined>,
  ): Promise<Uint8Array | undefined> => {
    const fault = drawRead(label);
    if (fault === 'refused') throw refuse(label);
    const bytes = await gate.step(owner, label, effect);
    if (fault !== 'corrupted' || bytes === undefined || bytes.length === 0) return bytes;
    gate.strike('corrupted', label);
    return turnBit(bytes);
  };
  const write = async <T>(label: string, effect: () => Promise<T>): Promise<T> => {
    const fault = draw(label);
    if (fault === 'refused') throw refuse(label);
    const result = await gate.step(owner, label, effect);
    if (fault === 'none') return result;
    gate.strike('reply-lost', label);
    throw new HoldfastError('unavailable', `${label}: no reply`);
  };
  const { state, control, hints, objects, reader } = ports;
  return {
    state: {
      load: (scope, keys) => read('state.load', () => state.load(scope, keys)),
      write: async (scope, writes) => {
        const outcomes: WriteOutcome[] = [];
        for (const one of writes) {
          const label = `state.write ${one.item.key}`;
          const fault = draw(label);
          if (fault === 'refused') throw refuse(label);
          const [outcome] = await gate.step(owner, label, () => state.write(scope, [one]));
          if (fault === 'reply-lost') gate.strike(fault, label);
          outcomes.push(fault === 'reply-lost' ? 'conflict' : outcome!);
        }
        return outcomes;
      },
      scan: async function* (scope, keyGroup) {
        for await (const item of state.scan(scope, keyGroup)) {
          yield await read('state.scan', async () => item);
        }
      },
      remove: async (scope, keys) => {
        for (const one of keys) {
          await write(`state.remove ${one.key}`, () => state.remove(scope, [one]));
        }
      },
      expireTombstones: (scope, tombstones) =>
        write('state.expire', () => state.expireTombstones(scope, tombstones)),
    },
    control: {
      readJob: (job) => read('job.read', () => control.readJob(job)),
      createJob: (job) => write('job.create', () => control.createJob(job)),
      replaceJob: (job, version) => write('job.replace', () => control.replaceJob(job, version)),
      readProgress: (...args) => read('progress.read', () => control.readProgress(...args)),
      bear: async (birth) => {
        const outcome = await gate.step(owner, 'progress.bear', () => control.bear(birth));
        if (outcome !== 'born' || draw('progress.bear') !== 'reply-lost') return outcome;
        gate.strike('reply-lost', 'progress.bear');
        return 'exists';
      },
      commitProgress: (...args) => write('progress.commit', () => control.commitProgress(...args)),
      fenceProgress: (...args) => write('progress.fence', () => control.fenceProgress(...args)),
      createProgress: (...args) => write('progress.create', () => control.createProgress(...args)),
      readRegistry: (job) => read('registry.read', () => control.readRegistry(job)),
      writeRegistry: (...args) => write('registry.write', () => control.writeRegistry(...args)),
      // In pages: what comes to be meanwhile may be on the second one.
      listChannels: async (...args) => {
        const list = () => read('channels.list', () => control.listChannels(...args));
        const first = await list();
        if (first.length < 2) return first;
        const page = first.slice(0, first.length >>> 1);
        const last = channelId(page.at(-1)!);
        return [...page, ...(await list()).filter((channel) => channelId(channel) > last)];
      },
      readSuspicion: (...args) => read('suspicion.read', () => control.readSuspicion(...args)),
      writeSuspicion: (...args) => write('suspicion.write', () => control.writeSuspicion(...args)),
    },
    hints: {
      insert: async (scope, list) => {
        for (const hint of list) {
          await write('hint.insert', () => hints.insert(scope, [hint]));
        }
      },
      // All partitions are asked at once; one wait for all of them keeps the number of orders within bounds.
      findDue: (scope, partition, ...args) => {
        const ask = () => hints.findDue(scope, partition, ...args);
        return partition % hintPartitions === 0 ? read('hint.find', ask) : ask();
      },
      remove: async (scope, list) => {
        for (const hint of list) {
          await write('hint.remove', () => hints.remove(scope, [hint]));
        }
      },
    },
    objects: {
      create: (name, bytes) => write(`object.create ${name}`, () => objects.create(name, bytes)),
      read: (name) => readBytes(`object.read ${name}`, () => objects.read(name)),
      readStart: (name, bytesMax) =>
        readBytes(`object.start ${name}`, () => objects.readStart(name, bytesMax)),
      readRange: (...args) =>
        readBytes(`object.range ${args[0]}`, () => objects.readRange(...args)),
      remove: async (names) => {
        for (const name of names) {
          await write(`object.remove ${name}`, () => objects.remove([name]));
        }
      },
      list: async function* (prefix) {
        const names = await read(`object.list ${prefix}`, () => all(objects.list(prefix)));
        yield* names;
      },
    },
    reader: {
      describe: () => read('stream.describe', () => reader.describe()),
      listShards: async () => {
        const isStale = drawRead('stream.shards') === 'stale';
        const shards = await read('stream.shards', () => reader.listShards());
        if (!isStale) return shards;
        gate.strike('stale', 'stream.shards');
        return beforeLastReshard(shards);
      },
      read: async function* (shardId, after) {
        for await (const page of reader.read(shardId, after)) {
          yield await read('shard.page', async () => page);
        }
      },
    },
    sinks: new Map(
      [...ports.sinks].map(([name, sink]): [string, Sink] => [
        name,
        {
          write: async (source, rows) => {
            let written = 0;
            for (const row of rows) {
              const receipt = await write(`sink.${name} ${row.key}`, () =>
                sink.write(source, [row]),
              );
              written += receipt.written;
            }
            return { written, skipped: rows.length - written };
          },
        },
      ]),
    ),
  };
}

async function all<T>(list: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of list) items.push(item);
  return items;
}

/** Somewhere in the middle, where nothing but a checksum notices. */
function turnBit(bytes: Uint8Array): Uint8Array {
  const turned = new Uint8Array(bytes);
  turned[turned.length >>> 1]! ^= 1;
  return turned;
}

/** The shards without those that came last: their parents look open still. */
function beforeLastReshard(shards: readonly Shard[]): Shard[] {
  const parents = new Set(shards.flatMap(({ parentIds }) => parentIds));
  const isLast = ({ shardId, parentIds }: Shard): boolean =>
    parentIds.length > 0 && !parents.has(shardId);
  return shards.filter((shard) => !isLast(shard));
}
