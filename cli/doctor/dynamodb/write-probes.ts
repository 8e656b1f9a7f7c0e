import {
  DeleteItemCommand,
  TransactionCanceledException,
  TransactWriteItemsCommand,
  UpdateTimeToLiveCommand,
  type TransactWriteItem,
} from '@aws-sdk/client-dynamodb';
import { sendBatchWrites } from '../../../shared/adapters/dynamodb/batch-writes.ts';
import {
  itemIsAbsent,
  rowIsOf,
  versionIs,
  versionIsSeen,
} from '../../../shared/adapters/dynamodb/condition-clauses.ts';
import type { ConditionalWrite } from '../../../shared/adapters/dynamodb/conditional-write.ts';
import { classifyError } from '../../../shared/adapters/dynamodb/map-error.ts';
import { bindValues, createSingleWriter } from '../../../shared/adapters/dynamodb/single-writes.ts';
import { tableKey, type Item } from '../../../shared/adapters/dynamodb/table-keys.ts';
import { firstDifference, works, type Probe } from '../finding.ts';
import { getItem } from './items.ts';
import type { TableBed } from './table-bed.ts';

const racers = 16;

const quietly = { doing: 'probe', onUnknown: 'report' } as const;

const conditions: Probe<TableBed> = {
  capability: 'conditions on puts and updates',
  need: { kind: 'needed', text: 'every commit is a compare-and-swap' },
  run: async (bed) => {
    const writer = createSingleWriter(bed);
    const key = tableKey('conditions', '0');
    const write = async (one: ConditionalWrite): Promise<string> =>
      (await writer.write([one], quietly))[0]!;
    const create: ConditionalWrite = { kind: 'create', item: { ...key, v: { N: '1' } } };
    const replace = (seen: string): ConditionalWrite => ({
      kind: 'replace',
      item: { ...key, v: { N: '2' } },
      rule: { condition: versionIsSeen, removable: [] },
      values: [{ N: seen }],
    });
    const patch = (seen: string): ConditionalWrite => ({
      ...{ kind: 'patch', key, changes: { a: { S: 'new' } }, values: [{ N: seen }] },
      condition: { ...versionIsSeen },
    });
    const results = [
      ...[await write(create), await write(create)],
      ...[await write(replace('7')), await write(replace('1'))],
      ...[await write(patch('1')), await write(patch('2'))],
    ];
    const expected = ['done', 'refused', 'refused', 'done', 'refused', 'done'];
    const { v, a } = (await getItem(bed, 'conditions', '0')) ?? {};
    return firstDifference(
      [
        results.join() === expected.join(),
        `create twice, replace and update with a wrong and a right version: ${expected.join(', ')}`,
        results.join(', '),
      ],
      [
        v?.N === '2' && a?.S === 'new',
        'what was acknowledged in the item, and nothing else',
        `v=${v?.N ?? 'nothing'}, a=${a?.S ?? 'nothing'}`,
      ],
    );
  },
};

const races: Probe<TableBed> = {
  capability: 'one winner among racing writes',
  need: { kind: 'needed', text: 'a zombie and a retry may commit at once' },
  run: async (bed) => {
    const writer = createSingleWriter(bed);
    const results = await Promise.all(
      Array.from({ length: racers }, async (_, at) => {
        const item = { ...tableKey('race', '0'), by: { N: String(at) } };
        return (await writer.write([{ kind: 'create', item }], quietly))[0];
      }),
    );
    const winners = results.filter((result) => result === 'done').length;
    return firstDifference([winners === 1, `one of ${racers} creates done`, `${winners}`]);
  },
};

const conditionalDeletes: Probe<TableBed> = {
  capability: 'conditions on deletes',
  need: { kind: 'needed', text: 'a restore sweeps rows that are still those it has seen' },
  run: async (bed) => {
    const { client, table } = bed;
    const item: Item = {
      ...{ ...tableKey('delete', '0'), _generation: { N: '1' } },
      _id: { S: 'mine' },
    };
    await createSingleWriter(bed).write([{ kind: 'create', item }], quietly);
    const remove = (id: string): Promise<string> =>
      refusalOf(
        client.send(
          new DeleteItemCommand({
            TableName: table,
            Key: tableKey('delete', '0'),
            ConditionExpression: rowIsOf.expression,
            ExpressionAttributeNames: rowIsOf.names,
            ExpressionAttributeValues: bindValues([{ N: '1' }, { S: id }]),
          }),
        ),
      );
    const wrong = await remove('another');
    const isThere = (await getItem(bed, 'delete', '0')) !== undefined;
    const right = await remove('mine');
    return firstDifference(
      [wrong === 'condition-failed' && isThere, 'a refused delete of another row', wrong],
      [right === 'done', 'a delete of the row', right],
    );
  },
};

const transactions: Probe<TableBed> = {
  capability: 'transactions with condition checks',
  need: { kind: 'needed', text: 'a channel begins with a check of its job and its parents' },
  run: probeTransactions,
};

const batchWrites: Probe<TableBed> = {
  capability: 'batches of 25 puts and deletes',
  need: { kind: 'needed', text: 'timer hints' },
  run: async (bed) => {
    const keys = Array.from({ length: 25 }, (_, at) => tableKey('batch', String(at)));
    const options = { doing: 'probe', things: 'items' };
    const puts = keys.map((Item) => ({ PutRequest: { Item } }));
    await sendBatchWrites(bed, puts, options);
    const put = await getItem(bed, 'batch', '24');
    await sendBatchWrites(
      bed,
      keys.map((Key) => ({ DeleteRequest: { Key } })),
      options,
    );
    const left = await getItem(bed, 'batch', '24');
    return firstDifference(
      [put !== undefined, '25 items after a batch of puts', 'not the last of them'],
      [left === undefined, 'no item after a batch of deletes', 'the last of them'],
    );
  },
};

const timeToLive: Probe<TableBed> = {
  capability: 'time to live is accepted',
  need: { kind: 'optional', text: 'without it what has expired stays, and costs its storage' },
  run: async ({ client, table }) => {
    await client.send(
      new UpdateTimeToLiveCommand({
        TableName: table,
        TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
      }),
    );
    return works;
  },
};

export const writeProbes = [
  conditions,
  races,
  conditionalDeletes,
  transactions,
  batchWrites,
  timeToLive,
];

async function probeTransactions(bed: TableBed): ReturnType<Probe<TableBed>['run']> {
  const { client, table, system } = bed;
  const plan = (version: string, sk: string): TransactWriteItem[] => [
    {
      ConditionCheck: {
        TableName: table,
        Key: tableKey('transaction', 'job'),
        ConditionExpression: versionIs.expression,
        ExpressionAttributeNames: versionIs.names,
        ExpressionAttributeValues: bindValues([{ N: version }]),
      },
    },
    {
      Put: {
        TableName: table,
        Item: tableKey('transaction', sk),
        ConditionExpression: itemIsAbsent.expression,
        ExpressionAttributeNames: itemIsAbsent.names,
      },
    },
  ];
  const transact = async (items: TransactWriteItem[], token: string): Promise<string> => {
    const command = { TransactItems: items, ClientRequestToken: token };
    try {
      await client.send(new TransactWriteItemsCommand(command));
      return 'done';
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw error;
      return (error.CancellationReasons ?? []).map(({ Code }) => Code ?? '?').join('+');
    }
  };
  await createSingleWriter(bed).write(
    [{ kind: 'create', item: { ...tableKey('transaction', 'job'), version: { N: '1' } } }],
    quietly,
  );
  const failed = await transact(plan('7', 'a'), system.randomId());
  const isUntouched = (await getItem(bed, 'transaction', 'a')) === undefined;
  const token = system.randomId();
  const done = await transact(plan('1', 'b'), token);
  const again = await transact(plan('1', 'b'), token);
  const other = await transact(plan('1', 'b'), system.randomId());
  return firstDifference(
    [
      failed === 'ConditionalCheckFailed+None',
      'reasons of a cancelled transaction in order: ConditionalCheckFailed, None',
      failed,
    ],
    [isUntouched, 'nothing written by it', 'its put'],
    [done === 'done', 'a transaction whose checks hold done', done],
    [again === 'done', 'success for the same request with the same token', again],
    [
      other === 'None+ConditionalCheckFailed',
      'None, ConditionalCheckFailed with another token',
      other,
    ],
  );
}

async function refusalOf(sent: Promise<unknown>): Promise<string> {
  try {
    await sent;
    return 'done';
  } catch (error) {
    const failure = classifyError(error);
    if (failure === 'condition-failed') return failure;
    throw error;
  }
}
