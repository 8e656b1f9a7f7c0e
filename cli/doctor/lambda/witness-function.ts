import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import {
  deliveriesOf,
  witnessTableVariable,
  type Delivery,
  type DeliveryEnd,
  type WitnessOrder,
  type WitnessRecord,
} from './witness-orders.ts';

/*
 * The function that the doctor deploys. It does what its records and orders say, and writes down what it was given. What it
 * remembers is in the table: each invocation may be in another environment.
 */

interface KinesisEvent {
  readonly Records: readonly {
    readonly eventID: string;
    readonly eventSourceARN: string;
    readonly kinesis: { readonly data: string };
  }[];
}

const client = new DynamoDBClient();
const table = process.env[witnessTableVariable] ?? '';

/** Bundled as the entry of a function: Lambda calls it. */
export async function handler(event: WitnessOrder | KinesisEvent): Promise<unknown> {
  return 'order' in event ? obey(event) : takeBatch(event);
}

async function obey(order: WitnessOrder): Promise<unknown> {
  switch (order.order) {
    case 'answer':
      return order.value;
    case 'write':
      await count(order.id);
      return {};
    case 'step': {
      const done = order.done + 1;
      return { done, total: order.total, isDone: done >= order.total };
    }
    case 'fail': {
      const asked = await count(order.id);
      if (asked > order.times) return { asked };
      throw named(order.error, `asked ${asked} times`);
    }
  }
}

async function takeBatch({ Records }: KinesisEvent): Promise<unknown> {
  const first = Records[0]!;
  const records = Records.map(
    ({ kinesis }) =>
      JSON.parse(Buffer.from(kinesis.data, 'base64').toString('utf8')) as WitnessRecord,
  );
  const end = await decideEnd(first.eventSourceARN, records);
  await write(first.eventSourceARN, {
    shard: first.eventID.slice(0, first.eventID.indexOf(':')),
    numbers: records.map(({ number }) => number),
    end,
  });
  if (end.kind === 'thrown') throw named('WitnessError', 'as the record says');
  const at = end.kind === 'handed-back' ? records.findIndex((r) => r.number === end.from) : -1;
  return {
    batchItemFailures: Records.slice(at, at + 1)
      .filter(() => at >= 0)
      .map(({ eventID }) => ({ itemIdentifier: eventID.slice(eventID.indexOf(':') + 1) })),
  };
}

/** The first record that wants something decides. */
async function decideEnd(
  streamArn: string,
  records: readonly WitnessRecord[],
): Promise<DeliveryEnd> {
  for (const { number, act } of records) {
    if (act === undefined) continue;
    if (act === 'throw-always') return { kind: 'thrown' };
    if ((await count(`record ${streamArn} ${number}`)) > 1) continue;
    return act === 'throw-once' ? { kind: 'thrown' } : { kind: 'handed-back', from: number };
  }
  return { kind: 'done' };
}

/** @returns how often it was called with this id, this time included */
async function count(id: string): Promise<number> {
  const command = new UpdateItemCommand({
    TableName: table,
    Key: { pk: { S: id }, sk: { S: 'count' } },
    UpdateExpression: 'ADD #n :one',
    ExpressionAttributeNames: { '#n': 'n' },
    ExpressionAttributeValues: { ':one': { N: '1' } },
    ReturnValues: 'UPDATED_NEW',
  });
  return Number((await client.send(command)).Attributes?.['n']?.N);
}

/** Under the next free number: the clocks of two environments do not compare. */
async function write(streamArn: string, delivery: Delivery): Promise<void> {
  for (;;) {
    const at = String(await count(`number of ${deliveriesOf(streamArn)}`)).padStart(6, '0');
    try {
      await client.send(
        new PutItemCommand({
          TableName: table,
          Item: {
            ...{ pk: { S: deliveriesOf(streamArn) }, sk: { S: at } },
            delivery: { S: JSON.stringify(delivery) },
          },
          ConditionExpression: 'attribute_not_exists(pk)',
        }),
      );
      return;
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
  }
}

function named(name: string, message: string): Error {
  const error = new Error(message);
  error.name = name;
  return error;
}
