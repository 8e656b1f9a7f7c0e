import { describe, expect, it } from 'vitest';

import { putRows } from '../../../../shared/adapters/dynamodb/append-rows.ts';
import { tableKey } from '../../../../shared/adapters/dynamodb/table-keys.ts';
import { createMemorySystem } from '../../../../shared/adapters/memory/memory-system.ts';
import { isHoldfastError } from '../../../../shared/core/errors.ts';
import { fakeDynamodb, sdkError } from '../fake-client.ts';

interface Put {
  readonly PutRequest: { readonly Item: { readonly sk: { readonly S: string } } };
}

const items = Array.from({ length: 30 }, (_, at) => tableKey('p', `s${at}`));

/** Puts rows into a table that leaves those of some names out of the first requests that name them. */
async function put(refusals: ReadonlyMap<string, number>) {
  const requests: string[][] = [];
  const left = new Map(refusals);
  const client = fakeDynamodb(({ input }) => {
    const puts = (input['RequestItems'] as Record<string, Put[]>)['t']!;
    const nameOf = ({ PutRequest }: Put): string => PutRequest.Item.sk.S;
    requests.push(puts.map(nameOf));
    const refused = puts.filter((one) => (left.get(nameOf(one)) ?? 0) > 0);
    for (const one of refused) left.set(nameOf(one), left.get(nameOf(one))! - 1);
    return refused.length === 0 ? {} : { UnprocessedItems: { t: refused } };
  });
  const access = { client, table: 't', system: createMemorySystem() };
  return { receipt: await putRows(access, items, 'write rows'), requests };
}

describe('rows without conditions', () => {
  it('go 25 to a request', async () => {
    const { receipt, requests } = await put(new Map());
    expect(receipt).toEqual({ written: 30, skipped: 0 });
    expect(requests.map((names) => names.length)).toEqual([25, 5]);
  });

  it('are sent again where they were not processed, and those only', async () => {
    const { receipt, requests } = await put(
      new Map([
        ['s3', 1],
        ['s28', 2],
      ]),
    );
    expect(receipt).toEqual({ written: 30, skipped: 0 });
    expect(requests.slice(2)).toEqual([['s3', 's28'], ['s28']]);
  });

  it('are unavailable where that does not end', async () => {
    const thrown: unknown = await put(new Map([['s3', 1_000]])).catch((error: unknown) => error);
    expect(isHoldfastError(thrown, 'unavailable')).toBe(true);
    expect(String(thrown)).toContain('1 of 30 rows');
  });

  it('are invalid where the table refuses them', async () => {
    const client = fakeDynamodb(() => {
      throw sdkError('ValidationException', 400);
    });
    const access = { client, table: 't', system: createMemorySystem() };
    const thrown: unknown = await putRows(access, items, 'write').catch((error: unknown) => error);
    expect(isHoldfastError(thrown, 'invalid')).toBe(true);
  });
});
