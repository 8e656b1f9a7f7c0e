import {
  BatchExecuteStatementCommand,
  type BatchStatementResponse,
} from '@aws-sdk/client-dynamodb';
import { rowIsOlder, versionIsSeen } from '../../../shared/adapters/dynamodb/condition-clauses.ts';
import type { ConditionalWrite } from '../../../shared/adapters/dynamodb/conditional-write.ts';
import { classifyCode } from '../../../shared/adapters/dynamodb/map-error.ts';
import { probeWriteMode } from '../../../shared/adapters/dynamodb/probe-write-mode.ts';
import { createStatementTexts } from '../../../shared/adapters/dynamodb/statement-text.ts';
import { tableKey } from '../../../shared/adapters/dynamodb/table-keys.ts';
import { differs, firstDifference, works, type Need, type Probe } from '../finding.ts';
import { getItem } from './items.ts';
import type { TableBed } from './table-bed.ts';

const need: Need = {
  kind: 'adapted',
  text: 'without it items are written one by one: a request for each, not for 25',
};

const eachForItself: Probe<TableBed> = {
  capability: 'statements of a batch succeed and fail each for itself',
  need,
  run: async (bed) => {
    const create = (sk: string): ConditionalWrite => ({
      kind: 'create',
      item: { ...tableKey('statements', sk), v: { N: '1' } },
    });
    const [first] = await send(bed, [create('0')]);
    // The one in the middle is there already.
    const results = await send(bed, [create('1'), create('0'), create('2')]);
    const read = await Promise.all(['1', '2'].map((sk) => getItem(bed, 'statements', sk)));
    return firstDifference(
      [first === 'done', 'a first INSERT that is done', String(first)],
      [
        results.join() === 'done,refused,done',
        'three answers: done, DuplicateItem, done',
        results.join(', '),
      ],
      [
        read.every((item) => item !== undefined),
        'both new items in the table',
        `${read.filter((item) => item !== undefined).length} of them`,
      ],
    );
  },
};

const twoSets: Probe<TableBed> = {
  capability: 'UPDATE of two SETs under a condition',
  need,
  run: async (bed) => {
    const item = { ...tableKey('two-sets', '0'), v: { N: '1' } };
    const replace = (seen: string, text: string): ConditionalWrite => ({
      kind: 'replace',
      item: { ...item, v: { N: '2' }, a: { S: text } },
      rule: { condition: versionIsSeen, removable: [] },
      values: [{ N: seen }],
    });
    await send(bed, [{ kind: 'create', item }]);
    const [stale] = await send(bed, [replace('7', 'stale')]);
    const [fresh] = await send(bed, [replace('1', 'fresh')]);
    const { v, a } = (await getItem(bed, 'two-sets', '0')) ?? {};
    return firstDifference(
      [stale === 'refused', 'ConditionalCheckFailed for a version that is not there', `${stale}`],
      [fresh === 'done', 'done for the version that is there', `${fresh}`],
      [
        v?.N === '2' && a?.S === 'fresh',
        'both attributes set',
        `v=${v?.N ?? 'nothing'}, a=${a?.S ?? 'nothing'}`,
      ],
    );
  },
};

const eitherOr: Probe<TableBed> = {
  capability: 'UPDATE under conditions with OR',
  need,
  run: async (bed) => {
    const key = tableKey('either-or', '0');
    const replace = (generation: string, order: string): ConditionalWrite => ({
      kind: 'replace',
      item: { ...key, _generation: { N: generation }, _order: { S: order } },
      rule: { condition: rowIsOlder, removable: ['ttl'] },
      values: [{ N: generation }, { N: generation }, { S: order }],
    });
    const item = { ...key, _generation: { N: '1' }, _order: { S: 'b' } };
    await send(bed, [{ kind: 'create', item }]);
    const [older] = await send(bed, [replace('1', 'a')]);
    const [later] = await send(bed, [replace('1', 'c')]);
    const [newer] = await send(bed, [replace('2', 'a')]);
    const row = await getItem(bed, 'either-or', '0');
    const left = `${row?.['_generation']?.N} ${row?.['_order']?.S}`;
    return firstDifference(
      [older === 'refused', 'ConditionalCheckFailed for an older row', `${older}`],
      [later === 'done', 'done for a later row', `${later}`],
      [newer === 'done', 'done for a row of a newer generation', `${newer}`],
      [left === '2 a', 'the last row in the table: 2 a', left],
    );
  },
};

const writeMode: Probe<TableBed> = {
  capability: "what the runtime's own probe of a table chooses",
  need,
  run: async (bed) => {
    const mode = await probeWriteMode(bed);
    return mode === 'partiql-batch' ? works : differs('partiql-batch', mode);
  },
};

/** PartiQL, as state and rows are written with it. */
export const statementProbes = [eachForItself, twoSets, eitherOr, writeMode];

/** @returns for each statement `done`, `refused`, or the code of its error */
async function send(
  { client, table }: TableBed,
  writes: readonly ConditionalWrite[],
): Promise<string[]> {
  const makeStatement = createStatementTexts(table);
  const { Responses = [] } = await client.send(
    new BatchExecuteStatementCommand({ Statements: writes.map(makeStatement) }),
  );
  return Responses.map(readResponse);
}

function readResponse({ Error: error }: BatchStatementResponse): string {
  if (error === undefined) return 'done';
  const failure = classifyCode(error.Code);
  const isRefused = failure === 'condition-failed' || failure === 'duplicate';
  return isRefused ? 'refused' : `${error.Code}: ${error.Message}`;
}
