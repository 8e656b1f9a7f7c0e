import { itemBytes, readUnits } from './capacity.ts';
import { db, type Item, throwIf } from './dynalite-internals.ts';
import type { DynamoDbStore } from './dynamodb-store.ts';
import { attemptWrite } from './item-write.ts';
import {
  assertBatchSize,
  assertDistinct,
  assertUniform,
  refuseReturning,
} from './partiql-batch-rules.ts';
import type { BoundStatement } from './partiql-binding.ts';
import { createStatementReader, type StatementBody } from './partiql-requests.ts';
import { renderResult, type StatementResult, throttle } from './partiql-results.ts';
import { consumedCapacity, isCapacityWanted, listCapacity, type UsageMeter } from './usage.ts';

export interface BatchExecuteBody {
  readonly Statements?: readonly StatementBody[];
  readonly ReturnConsumedCapacity?: string;
}

export interface StatementRunner {
  /** Independent statements, each with its own success or error, in order. */
  executeBatch(body: BatchExecuteBody, throttled: ReadonlySet<number>): Promise<object>;
  /** One statement; a failure is the exception of its kind. */
  execute(body: StatementBody): Promise<object>;
  /** The table that a statement names, if it can be read. */
  findTable(body: StatementBody): string | undefined;
}

export function createStatementRunner(store: DynamoDbStore, usage: UsageMeter): StatementRunner {
  const reader = createStatementReader(store);

  return {
    findTable: (body) => reader.findTable(body),

    executeBatch: async (body, throttled) => {
      const statements = body.Statements ?? [];
      assertBatchSize(statements.length);
      const bound = statements.map((statement) => refuseReturning(reader.read(statement)));
      assertDistinct(bound);
      const areReads = assertUniform(bound);
      const runAll = async (): Promise<StatementResult[]> => {
        const results: StatementResult[] = [];
        for (const [index, statement] of bound.entries()) {
          if (statement.kind === 'failed') results.push(statement);
          else if (throttled.has(index)) results.push(throttle(statement.table.TableName));
          else results.push(await run(store, statement, statements[index]));
        }
        await settle(store, usage, results, areReads);
        return results;
      };
      const results = areReads ? await runAll() : await store.exclusively(runAll);
      const spent = results.flatMap(({ table, units }): [string, number][] =>
        table === undefined ? [] : [[table, units]],
      );
      const capacity = listCapacity(spent, body.ReturnConsumedCapacity);
      return {
        Responses: results.map(renderResult),
        ...(capacity === undefined ? {} : { ConsumedCapacity: capacity }),
      };
    },

    execute: async (body) => {
      const bound = reader.read(body);
      if (bound.kind === 'failed') return refuse(bound.error);
      const runOne = async (): Promise<StatementResult> => {
        const result = await run(store, bound, body);
        await settle(store, usage, [result], bound.kind === 'read');
        return result;
      };
      const result = bound.kind === 'read' ? await runOne() : await store.exclusively(runOne);
      if (result.kind === 'failed') return refuse(result.error);
      const requested = body.ReturnConsumedCapacity;
      return {
        Items: result.item === undefined ? [] : [result.item],
        ...(isCapacityWanted(requested)
          ? { ConsumedCapacity: consumedCapacity(result.table, result.units, requested) }
          : {}),
      };
    },
  };
}

async function run(
  store: DynamoDbStore,
  bound: BoundStatement,
  body: StatementBody | undefined,
): Promise<StatementResult> {
  const table = bound.table.TableName;
  if (bound.kind === 'read') {
    const item = store.read(table, bound.key);
    const bytes = item === undefined ? 0 : itemBytes(item);
    const units = readUnits(bytes, body?.ConsistentRead ?? false);
    const { projection } = bound;
    const isWhole = item === undefined || projection === undefined;
    return { kind: 'read', table, units, item: isWhole ? item : db.mapPaths(projection, item) };
  }
  const outcome = await attemptWrite(store, bound.write);
  if (outcome.kind === 'refused') {
    return { kind: 'failed', table, units: outcome.units, error: outcome.error };
  }
  const { Attributes: item } = outcome.reply as { Attributes?: Item };
  return { kind: 'write', table, units: outcome.units, item, unit: outcome.unit };
}

/** Commits what has succeeded and counts what everything has cost. */
async function settle(
  store: DynamoDbStore,
  usage: UsageMeter,
  results: readonly StatementResult[],
  areReads: boolean,
): Promise<void> {
  for (const { table, units } of results) {
    if (table === undefined || units === 0) continue;
    if (areReads) usage.addReadUnits(table, units);
    else usage.addWriteUnits(table, units);
  }
  await store.commit(results.flatMap((result) => (result.kind === 'write' ? [result.unit] : [])));
}

function refuse(error: Parameters<typeof throwIf>[0]): never {
  throwIf(error);
  throw new Error('a failed statement carries no error');
}
