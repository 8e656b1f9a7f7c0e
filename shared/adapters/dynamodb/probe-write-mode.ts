import {
  BatchExecuteStatementCommand,
  GetItemCommand,
  type BatchStatementResponse,
} from '@aws-sdk/client-dynamodb';
import { isHoldfastError } from '../../core/errors.ts';
import { retry } from '../system/backoff.ts';
import { rowIsOlder, versionIsSeen } from './condition-clauses.ts';
import type { ConditionalWrite, TableAccess, WriteMode } from './conditional-write.ts';
import { classifyCode, classifyError, failureError, mapDynamodbError } from './map-error.ts';
import { createStatementTexts } from './statement-text.ts';
import { probeKey, type Item, type TableKey } from './table-keys.ts';

type ProbeAccess = Pick<TableAccess, 'client' | 'table' | 'system' | 'retryPolicy'>;

/** Finds the write mode out when it is first asked for, and again only where that failed. */
export function createWriteModeProbe(access: ProbeAccess): () => Promise<WriteMode> {
  let answer: Promise<WriteMode> | undefined;
  return () => {
    answer ??= probeWriteMode(access).catch((error: unknown) => {
      answer = undefined;
      throw error;
    });
    return answer;
  };
}

/**
 * Finds out what the endpoint can do, on two items of the table that hold nothing else: statements in a batch must
 * succeed and fail each for itself, a failed condition must not write, and an UPDATE must set all that it names.
 * Any number may probe at once.
 *
 * @throws HoldfastError where the endpoint cannot be reached or refuses for another reason
 */
export async function probeWriteMode(access: ProbeAccess): Promise<WriteMode> {
  const { system, retryPolicy } = access;
  try {
    return await retry(
      system,
      async () => ((await canBatch(access)) ? 'partiql-batch' : 'conditional-put'),
      isPassing,
      retryPolicy,
    );
  } catch (error) {
    const failure = classifyError(error);
    if (failure === 'unsupported' || failure === 'malformed') return 'conditional-put';
    throw mapDynamodbError(error, `find out how to write to table ${access.table}`);
  }
}

const hitKey = probeKey('hit');
const missKey = probeKey('miss');
const version = { N: '1' };
// The two conditions that stores and sinks write under.
const hitRule = { condition: versionIsSeen, removable: ['ttl'] };
const missRule = { condition: rowIsOlder, removable: ['ttl'] };

async function canBatch({ client, table, system }: ProbeAccess): Promise<boolean> {
  const makeStatement = createStatementTexts(table);
  const send = async (writes: readonly ConditionalWrite[]): Promise<Verdict[]> => {
    const command = new BatchExecuteStatementCommand({ Statements: writes.map(makeStatement) });
    const { Responses = [] } = await client.send(command);
    return writes.map((_, at) => judge(Responses[at]));
  };

  const [created] = await send([{ kind: 'create', item: { ...hitKey, v: version } }]);
  if (created === 'cannot') return false;

  // Whoever probes sets both to the same text, so they are equal unless one of them was not set.
  const text = { S: system.randomId() };
  const [hit, miss] = await send([
    {
      kind: 'replace',
      item: { ...hitKey, v: version, a: text, b: text },
      rule: hitRule,
      values: [version],
    },
    {
      kind: 'replace',
      item: { ...missKey, v: version, a: text },
      rule: missRule,
      values: [version, version, text],
    },
  ]);
  if (hit !== 'done' || miss !== 'refused') return false;

  const read = async (Key: TableKey): Promise<Item> => {
    const get = new GetItemCommand({ TableName: table, Key, ConsistentRead: true });
    const { Item = {} } = await client.send(get);
    return Item;
  };
  const { a, b } = await read(hitKey);
  const { pk: missing } = await read(missKey);
  return a?.S !== undefined && a.S === b?.S && missing === undefined;
}

type Verdict = 'done' | 'refused' | 'cannot';

function judge(response: BatchStatementResponse | undefined): Verdict {
  if (response === undefined) return 'cannot';
  const error = response.Error;
  if (error === undefined) return 'done';
  const failure = classifyCode(error.Code);
  switch (failure) {
    case 'condition-failed':
    case 'duplicate':
      return 'refused';
    case 'unsupported':
    case 'malformed':
      return 'cannot';
    default:
      // Says nothing of what the endpoint can do.
      throw failureError(failure, 'find out how to write', `${error.Code}: ${error.Message}`);
  }
}

function isPassing(error: unknown): boolean {
  if (isHoldfastError(error)) return error.kind === 'unavailable';
  const failure = classifyError(error);
  return failure === 'throttled' || failure === 'unknown-reply';
}
