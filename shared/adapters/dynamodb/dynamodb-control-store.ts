import { GetItemCommand, PutItemCommand, type AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Channel } from '../../core/channel.ts';
import { HoldfastError } from '../../core/errors.ts';
import { formatPosition } from '../../core/position.ts';
import type { CommitOutcome, ControlStore } from '../../ports/control-store.ts';
import { defaultRetryPolicy, pauseAfter, retry } from '../system/backoff.ts';
import { bearChannel } from './bear-channel.ts';
import { itemIsAbsent, progressIsAtStart, progressIsFrom, versionIs } from './condition-clauses.ts';
import type { TableAccess } from './conditional-write.ts';
import {
  decodeChannel,
  decodeJob,
  decodeProgress,
  decodeSuspicion,
  encodeJob,
  encodeProgress,
  encodeSuspicion,
} from './control-items.ts';
import { createProgress } from './create-progress.ts';
import { fenceProgress } from './fence-progress.ts';
import {
  classifyError,
  failureError,
  isPassing,
  isRefusedForNow,
  mapDynamodbError,
} from './map-error.ts';
import { queryItems } from './query-items.ts';
import { decodeRegistry, encodeRegistry } from './registry-item.ts';
import { bindValues } from './single-writes.ts';
import {
  channelListPartition,
  jobKey,
  progressKey,
  registryKey,
  suspicionKey,
  type Item,
  type TableKey,
} from './table-keys.ts';

type ControlAccess = Omit<TableAccess, 'writeMode'>;

/** Job, progress, registry and suspicion in a DynamoDB table. */
export function createDynamodbControlStore(access: ControlAccess): ControlStore {
  const store: ControlStore = {
    async readJob(job) {
      const item = await readItem(access, jobKey(job));
      return item && decodeJob(item);
    },

    async createJob(job) {
      const policy = access.retryPolicy ?? defaultRetryPolicy;
      for (let attempt = 0; attempt < policy.attemptsMax; attempt += 1) {
        const item = encodeJob(jobKey(job.name), job);
        if ((await swapItem(access, item, itemIsAbsent, [])) === 'committed') return job;
        const there = await store.readJob(job.name);
        if (there !== undefined) return there;
        // The reply was lost, and the write with it.
        await pauseAfter(access.system, attempt, policy);
      }
      throw failureError('unknown-reply', `create job ${job.name}`, 'no reply came back');
    },

    async replaceJob(job, expectedVersion) {
      if (job.version <= expectedVersion) {
        throw new HoldfastError(
          'internal',
          `job ${job.name}: a write of version ${job.version} replaces version ${expectedVersion}; versions only go up`,
        );
      }
      const item = encodeJob(jobKey(job.name), job);
      return swapItem(access, item, versionIs, [number(expectedVersion)]);
    },

    async readProgress(job, generation, channel) {
      const item = await readItem(access, progressKey(job, generation, channel));
      return item && decodeProgress(item);
    },

    bear: (birth) => bearChannel(access, birth),

    async commitProgress(job, channel, next, from) {
      const item = encodeProgress(progressKey(job, next.generation, channel), next);
      const values = [number(next.version - 1), number(next.generation)];
      return from === undefined
        ? swapItem(access, item, progressIsAtStart, values)
        : swapItem(access, item, progressIsFrom, [...values, { S: formatPosition(from) }]);
    },

    fenceProgress: (job, generation, channel, fence) =>
      fenceProgress(access, progressKey(job, generation, channel), fence),

    createProgress: (job, channel, progress) => createProgress(access, job, channel, progress),

    listChannels: (job, generation) => listChannels(access, job, generation),

    async readRegistry(job) {
      const item = await readItem(access, registryKey(job));
      return item && decodeRegistry(job, item);
    },

    async writeRegistry(job, next) {
      return swapVersion(access, encodeRegistry(registryKey(job), job, next), next.version);
    },

    async readSuspicion(job, generation, channel) {
      const item = await readItem(access, suspicionKey(job, generation, channel));
      return item && decodeSuspicion(item);
    },

    async writeSuspicion(job, generation, channel, next) {
      const item = encodeSuspicion(suspicionKey(job, generation, channel), next);
      return swapVersion(access, item, next.version);
    },
  };
  return store;
}

function number(value: number): AttributeValue {
  return { N: String(value) };
}

async function readItem(access: ControlAccess, key: TableKey): Promise<Item | undefined> {
  const { client, table, system, retryPolicy } = access;
  const command = new GetItemCommand({ TableName: table, Key: key, ConsistentRead: true });
  try {
    const { Item } = await retry(system, () => client.send(command), isPassing, retryPolicy);
    return Item;
  } catch (error) {
    throw mapDynamodbError(error, `read ${key.sk.S} ${key.pk.S} from table ${table}`);
  }
}

/** Puts an item where the one there has the version before; version 1 where there is none. */
function swapVersion(access: ControlAccess, item: Item, version: number): Promise<CommitOutcome> {
  return version === 1
    ? swapItem(access, item, itemIsAbsent, [])
    : swapItem(access, item, versionIs, [number(version - 1)]);
}

/** Puts an item where its condition holds. A lost reply is a conflict: the caller reads what came of it. */
async function swapItem(
  access: ControlAccess,
  item: Item,
  condition: {
    readonly expression: string;
    readonly names: Readonly<Record<string, string>>;
  },
  values: readonly AttributeValue[],
): Promise<CommitOutcome> {
  const { client, table, system, retryPolicy } = access;
  const command = new PutItemCommand({
    TableName: table,
    Item: item,
    ConditionExpression: condition.expression,
    ExpressionAttributeNames: condition.names,
    ...(values.length === 0 ? {} : { ExpressionAttributeValues: bindValues(values) }),
  });
  try {
    await retry(system, () => client.send(command), isRefusedForNow, retryPolicy);
    return 'committed';
  } catch (error) {
    const failure = classifyError(error);
    if (failure === 'condition-failed' || failure === 'unknown-reply') return 'conflict';
    throw mapDynamodbError(error, `write ${item['sk']?.S} ${item['pk']?.S} to table ${table}`);
  }
}

async function listChannels(
  access: ControlAccess,
  job: string,
  generation: number,
): Promise<Channel[]> {
  const channels: Channel[] = [];
  const query = {
    partition: channelListPartition(job, generation),
    doing: `list the channels of job ${job}`,
  };
  for await (const item of queryItems(access, query)) channels.push(decodeChannel(item));
  return channels;
}
