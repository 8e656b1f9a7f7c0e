import { describe, expect, it } from 'vitest';

import { createDynamodbHintStore } from '../../../../shared/adapters/dynamodb/dynamodb-hint-store.ts';
import { decodeHint, encodeHint } from '../../../../shared/adapters/dynamodb/hint-item.ts';
import { tableKey, type Item } from '../../../../shared/adapters/dynamodb/table-keys.ts';
import { createMemorySystem } from '../../../../shared/adapters/memory/memory-system.ts';
import { HoldfastError, isHoldfastError } from '../../../../shared/core/errors.ts';
import type { StateScope } from '../../../../shared/ports/state-store.ts';
import { makeHint, makeHints } from '../../../contract/hint-store.contract.ts';
import { fakeDynamodb } from '../fake-client.ts';

const scope: StateScope = { job: 'flights', generation: 1, operator: 'delays' };
const everywhere = { from: '0'.repeat(32), to: 'f'.repeat(32) };
const { time } = makeHint();

interface Query {
  readonly ExpressionAttributeValues: Readonly<Record<string, { readonly S: string }>>;
  readonly ProjectionExpression?: string;
  readonly ConsistentRead?: boolean;
  readonly Limit?: number;
  readonly ExclusiveStartKey?: Item;
}

/** A client whose partition has these items. */
function answerQueries(items: readonly Item[]) {
  const queries: Query[] = [];
  const client = fakeDynamodb(({ input }) => {
    const query = input as unknown as Query;
    queries.push(query);
    const from = items.indexOf(query.ExclusiveStartKey!) + 1;
    const page = items.slice(from, from + query.Limit!);
    return { Items: page, LastEvaluatedKey: page.length < query.Limit! ? undefined : page.at(-1) };
  });
  const store = createDynamodbHintStore({ client, table: 't', system: createMemorySystem() });
  return { store, queries };
}

/** Inserts or removes 60 hints while a table does not take the third of each request, so many times. */
async function write(operation: 'insert' | 'remove', refusals: number) {
  const sizes: number[] = [];
  let left = refusals;
  const client = fakeDynamodb(({ input }) => {
    const requests = (input['RequestItems'] as Record<string, object[]>)['t']!;
    sizes.push(requests.length);
    expect(requests.every((one) => (operation === 'insert') === 'PutRequest' in one)).toBe(true);
    left -= 1;
    return left < 0 ? {} : { UnprocessedItems: { t: requests.slice(2, 3) } };
  });
  const store = createDynamodbHintStore({ client, table: 't', system: createMemorySystem() });
  await store[operation](scope, makeHints(60));
  return sizes;
}

describe('hints in DynamoDB', () => {
  it.each(['insert', 'remove'] as const)('go 25 to a request (%s)', async (operation) => {
    expect(await write(operation, 0)).toEqual([25, 25, 10]);
  });

  it.each(['insert', 'remove'] as const)(
    'are sent again where they were not processed, and those only (%s)',
    async (operation) => {
      expect(await write(operation, 2)).toEqual([25, 25, 10, 2]);
    },
  );

  it('are unavailable where that does not end', async () => {
    const client = fakeDynamodb(({ input }) => ({ UnprocessedItems: input['RequestItems'] }));
    const store = createDynamodbHintStore({ client, table: 't', system: createMemorySystem() });
    for (const call of [store.insert(scope, makeHints(3)), store.remove(scope, makeHints(3))]) {
      const thrown: unknown = await call.catch((error: unknown) => error);
      expect(isHoldfastError(thrown, 'unavailable')).toBe(true);
      expect(String(thrown)).toContain('3 of 3 hints');
    }
  });

  it('are sent once where a call names one twice', async () => {
    const requests: unknown[] = [];
    const client = fakeDynamodb(({ input }) => {
      requests.push(...(input['RequestItems'] as Record<string, unknown[]>)['t']!);
      return {};
    });
    const store = createDynamodbHintStore({ client, table: 't', system: createMemorySystem() });
    await store.insert(scope, [makeHint(), makeHint()]);
    await store.remove(scope, [makeHint(), makeHint()]);
    const item = encodeHint(scope, makeHint());
    expect(requests).toEqual([{ PutRequest: { Item: item } }, { DeleteRequest: { Key: item } }]);
  });

  it('are read consistently, with the attributes that are needed', async () => {
    const { store, queries } = answerQueries([]);
    await store.findDue(scope, 5, 'event', time, everywhere);
    expect(queries).toHaveLength(1);
    expect(queries[0]).toMatchObject({
      KeyConditionExpression: 'pk = :pk AND sk BETWEEN :s0 AND :s1',
      ExpressionAttributeValues: {
        ':pk': { S: 'hints#flights#1#delays#5' },
        ':s0': { S: 'e' },
        ':s1': { S: 'e~' },
      },
      ConsistentRead: true,
      ProjectionExpression: 'sk,k',
    });
  });

  it('are read in pages that grow, up to the first that is not due', async () => {
    const items = [
      ...makeHints(15),
      ...makeHints(200, { time: time + 1 }),
      ...makeHints(30_000, { time: time + 2 }),
    ].map((hint) => encodeHint(scope, hint));
    const { store, queries } = answerQueries(items);
    const look = async (upTo: number, range = everywhere) => {
      const { due, nextTime } = await store.findDue(scope, 5, 'event', upTo, range);
      return { due: due.length, nextTime, limits: queries.splice(0).map(({ Limit }) => Limit) };
    };
    expect(await look(0)).toEqual({ due: 0, nextTime: time, limits: [20] });
    expect(await look(time)).toEqual({ due: 15, nextTime: time + 1, limits: [20] });
    expect(await look(time + 1)).toEqual({ due: 215, nextTime: time + 2, limits: [20, 80, 320] });
    const nobodys = { from: 'f'.repeat(32), to: 'f'.repeat(32) };
    expect(await look(0, nobodys)).toEqual({
      due: 0,
      nextTime: undefined,
      limits: [20, 80, 320, 1_280, 5_120, 10_000, 10_000, 10_000],
    });
  });
});

// A contract: hints of released versions look like this.
describe('hint items', () => {
  it('are their key alone', () => {
    const hint = makeHint({ key: 'a#b', time: 0 });
    expect(encodeHint(scope, hint)).toEqual(
      tableKey(
        `hints#flights#1#delays#${parseInt(hint.keyHash[0]!, 16)}`,
        `e4503599627370496#${hint.keyHash}#a#b`,
      ),
    );
  });

  it.each([243, 244, 256])('hold a key of %i characters of four bytes', (characters) => {
    const hint = makeHint({ key: '🦊'.repeat(characters) });
    const item = encodeHint(scope, hint);
    expect(Buffer.byteLength(item['sk']!.S!)).toBeLessThanOrEqual(1_024);
    expect(item['k']?.S).toBe(characters > 243 ? hint.key : undefined);
    expect(decodeHint(item)).toEqual(hint);
  });

  it.each(['', 'e', 'x4503599627370496#0#k', 'e1#00#k', 'alice'])(
    'are corrupt with the sort key %o',
    (sort) => {
      const decode = () => decodeHint(tableKey('p', sort));
      expect(decode).toThrow(HoldfastError);
      expect(decode).toThrow(/no domain, time, hash or key/);
    },
  );
});
