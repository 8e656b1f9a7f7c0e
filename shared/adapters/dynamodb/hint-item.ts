import { HoldfastError } from '../../core/errors.ts';
import type { Hint } from '../../ports/hint-store.ts';
import type { StateScope } from '../../ports/state-store.ts';
import { hintKey, parseHintSort, startOfHintedKey, type Item } from './table-keys.ts';

/*
 * A hint in the state table says everything in its key. One attribute:
 *
 *   k    S     the hint's key, where the sort key has room for its start only
 */

/** What has to be read of a hint. */
export const hintAttributes: readonly string[] = ['sk', 'k'];

export function encodeHint(scope: StateScope, hint: Hint): Item {
  const key = hintKey(scope, hint);
  return startOfHintedKey(hint.key) === hint.key ? key : { ...key, k: { S: hint.key } };
}

export function decodeHint(item: Item): Hint {
  const sort = item['sk']?.S ?? '';
  const hint = parseHintSort(sort);
  if (hint === undefined) {
    throw new HoldfastError(
      'corrupt',
      `hint ${JSON.stringify(sort)} has no domain, time, hash or key: something else writes to the state table; stop it and restore`,
    );
  }
  return { ...hint, key: item['k']?.S ?? hint.key };
}
