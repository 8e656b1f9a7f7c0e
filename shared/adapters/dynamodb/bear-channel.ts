import {
  TransactionCanceledException,
  TransactWriteItemsCommand,
  type CancellationReason,
  type TransactWriteItem,
} from '@aws-sdk/client-dynamodb';
import type { Birth, BirthOutcome } from '../../ports/control-store.ts';
import { defaultRetryPolicy, pauseAfter, type RetryPolicy } from '../system/backoff.ts';
import {
  channelIsFinished,
  itemIsAbsent,
  jobIsOpen,
  jobIsOpenToHold,
} from './condition-clauses.ts';
import type { TableAccess } from './conditional-write.ts';
import { encodeChannel, encodeProgress } from './control-items.ts';
import {
  classifyCode,
  classifyError,
  failureError,
  mapDynamodbError,
  type DynamodbFailure,
} from './map-error.ts';
import { bindValues } from './single-writes.ts';
import { channelListKey, jobKey, progressKey } from './table-keys.ts';

/** All channels of a job check the one job item, and transactions that meet there refuse each other. */
const birthRetryPolicy: RetryPolicy = { ...defaultRetryPolicy, attemptsMax: 16 };

/** Creates progress and the channel's entry in the list, if the job is open and the parents are finished (P9). */
export async function bearChannel(
  { client, table, system, retryPolicy }: Omit<TableAccess, 'writeMode'>,
  birth: Birth,
): Promise<BirthOutcome> {
  const policy = retryPolicy ?? birthRetryPolicy;
  const actions = planBirth(table, birth);
  const doing = `bear channel ${birth.channel.shardId} of job ${birth.job}`;
  // The same token for the same request: one whose reply was lost is answered, not done again.
  let token = system.randomId();
  let last: DynamodbFailure = 'transaction-conflict';
  for (let attempt = 0; attempt < policy.attemptsMax; attempt += 1) {
    if (attempt > 0) await pauseAfter(system, attempt - 1, policy);
    try {
      await client.send(
        new TransactWriteItemsCommand({ TransactItems: actions, ClientRequestToken: token }),
      );
      return 'born';
    } catch (error) {
      if (error instanceof TransactionCanceledException) {
        const outcome = readReasons(error.CancellationReasons ?? [], doing);
        if (outcome !== 'conflict') return outcome;
        token = system.randomId();
        continue;
      }
      last = classifyError(error);
      if (!['throttled', 'transaction-conflict', 'unknown-reply'].includes(last)) {
        throw mapDynamodbError(error, doing);
      }
    }
  }
  throw failureError(last, doing, `refused ${policy.attemptsMax} times`);
}

/** In this order: the job, the new progress, its entry in the list, the parents. */
function planBirth(table: string, birth: Birth): TransactWriteItem[] {
  const { job, channel, progress, finishedParentIds, hold } = birth;
  const { generation } = progress;
  const isOpen = hold === undefined ? jobIsOpen : jobIsOpenToHold;
  return [
    {
      ConditionCheck: {
        TableName: table,
        Key: jobKey(job),
        ConditionExpression: isOpen.expression,
        ExpressionAttributeNames: isOpen.names,
        ExpressionAttributeValues: bindValues([
          { N: String(generation) },
          { S: 'running' },
          ...(hold === undefined ? [] : [{ S: hold }]),
        ]),
      },
    },
    {
      Put: {
        TableName: table,
        Item: encodeProgress(progressKey(job, generation, channel), progress),
        ConditionExpression: itemIsAbsent.expression,
        ExpressionAttributeNames: itemIsAbsent.names,
      },
    },
    {
      Put: {
        TableName: table,
        Item: encodeChannel(channelListKey(job, generation, channel), channel),
      },
    },
    ...finishedParentIds.map((shardId) => ({
      ConditionCheck: {
        TableName: table,
        Key: progressKey(job, generation, { ...channel, shardId }),
        ConditionExpression: channelIsFinished.expression,
        ExpressionAttributeNames: channelIsFinished.names,
        ExpressionAttributeValues: bindValues([{ BOOL: true }]),
      },
    })),
  ];
}

function readReasons(
  [job, progress, entry, ...parents]: readonly CancellationReason[],
  doing: string,
): Exclude<BirthOutcome, 'born'> | 'conflict' {
  if (isConditionFailed(job)) return 'job-changed';
  if (isConditionFailed(progress)) return 'exists';
  if (parents.some(isConditionFailed)) return 'parents-unfinished';
  for (const reason of [job, progress, entry, ...parents]) {
    if (reason?.Code === undefined || reason.Code === 'None') continue;
    const failure = classifyCode(reason.Code);
    if (!['throttled', 'transaction-conflict', 'unknown-reply'].includes(failure)) {
      throw failureError(failure, doing, `${reason.Code}: ${reason.Message}`);
    }
  }
  return 'conflict';
}

function isConditionFailed(reason: CancellationReason | undefined): boolean {
  return classifyCode(reason?.Code) === 'condition-failed';
}
