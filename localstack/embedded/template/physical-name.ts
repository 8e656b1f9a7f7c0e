import { createHash } from 'node:crypto';

import type { StackPlace } from './parameters.ts';

/**
 * `<stack>-<logicalId>-<suffix>`, shortened from the left part so that it fits. The suffix depends on stack and logical
 * id only: the same template gives the same names at every start.
 */
export function physicalName(
  place: StackPlace,
  logicalId: string,
  options: { lengthMax: number; isLowerCase?: boolean },
): string {
  const suffix = shortHash(`${place.stackName}/${logicalId}`, 8);
  const readable = `${place.stackName}-${logicalId}`.slice(
    0,
    options.lengthMax - suffix.length - 1,
  );
  const name = `${readable}-${suffix}`;
  return options.isLowerCase === true ? name.toLowerCase() : name;
}

/** An id in the form of a UUID that depends on the text only. */
export function uuidOf(text: string): string {
  const hex = shortHash(text, 32);
  return [8, 12, 16, 20, 32]
    .map((end, index, ends) => hex.slice(ends[index - 1] ?? 0, end))
    .join('-');
}

export function stackIdOf(place: Omit<StackPlace, 'stackId'>): string {
  const { region, accountId, stackName } = place;
  return `arn:aws:cloudformation:${region}:${accountId}:stack/${stackName}/${uuidOf(stackName)}`;
}

function shortHash(text: string, hexDigits: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, hexDigits);
}
