import { ApiError } from './api-error.ts';
import type { JsonObject } from './json-value.ts';

const PAGE_LENGTH_DEFAULT = 100;
const PAGE_LENGTH_MAX = 1_000;

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Undefined on the last page. */
  readonly nextToken: string | undefined;
}

/** What `maxResults` and `nextToken` of a request ask for. A token is the number of items that were answered already. */
export function readPage<Item>(request: JsonObject, all: readonly Item[]): Page<Item> {
  const { maxResults, nextToken: token } = request;
  const asked = typeof maxResults === 'number' ? maxResults : 0;
  if (!Number.isInteger(asked) || asked < 0 || asked > PAGE_LENGTH_MAX) {
    throw new ApiError(
      'ValidationException',
      `1 validation error detected: Value '${asked}' at 'maxResults' failed to satisfy constraint: Member must be from 0 to ${PAGE_LENGTH_MAX}`,
    );
  }
  const start = typeof token === 'string' ? Number(token) : 0;
  if (!Number.isInteger(start) || start < 0 || start > all.length) {
    throw new ApiError('InvalidToken', `Invalid Token: '${token as string}'`);
  }
  const end = start + (asked === 0 ? PAGE_LENGTH_DEFAULT : asked);
  return {
    items: all.slice(start, end),
    nextToken: end < all.length ? String(end) : undefined,
  };
}
