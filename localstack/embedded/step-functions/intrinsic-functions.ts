import { createHash, randomUUID } from 'node:crypto';

import { isJsonObject, isSameJson, parseJson, type JsonValue } from './json-value.ts';
import { showData, StateError } from './state-error.ts';

/** One of the `States.*` functions. */
export interface IntrinsicFunction {
  readonly argumentsMin: number;
  /** @default the same as argumentsMin */
  readonly argumentsMax?: number;
  /** Throws StateError with States.IntrinsicFailure. */
  run(args: readonly JsonValue[]): JsonValue;
}

const TEXT_LENGTH_MAX = 10_000;
const RANGE_LENGTH_MAX = 1_000;
const hashNames: Readonly<Record<string, string>> = {
  MD5: 'md5',
  'SHA-1': 'sha1',
  'SHA-256': 'sha256',
  'SHA-384': 'sha384',
  'SHA-512': 'sha512',
};

/**
 * The functions that are known here. Not among them: States.MathRandom, whose numbers for a seed are AWS's secret, and
 * States.StringSplit, whose treatment of empty parts is not documented.
 */
export const intrinsicFunctions: Readonly<Record<string, IntrinsicFunction>> = {
  'States.Array': { argumentsMin: 0, argumentsMax: Infinity, run: (args) => [...args] },
  'States.ArrayContains': {
    argumentsMin: 2,
    run: ([list, value]) => listOf(list).some((item) => isSameJson(item, value)),
  },
  'States.ArrayGetItem': {
    argumentsMin: 2,
    run([list, index]) {
      const item = listOf(list)[integerOf(index)];
      return item === undefined ? fail(`the list has no index ${showData(index ?? null)}`) : item;
    },
  },
  'States.ArrayLength': { argumentsMin: 1, run: ([list]) => listOf(list).length },
  'States.ArrayPartition': {
    argumentsMin: 2,
    run([list, size]) {
      const length = integerOf(size);
      if (length < 1) fail(`the size of a part is ${length}, expected at least 1`);
      const items = listOf(list);
      return Array.from({ length: Math.ceil(items.length / length) }, (_, part) =>
        items.slice(part * length, (part + 1) * length),
      );
    },
  },
  'States.ArrayRange': {
    argumentsMin: 3,
    run([first, last, step]) {
      const [start, end, by] = [integerOf(first), integerOf(last), integerOf(step)];
      const length = by === 0 ? Infinity : Math.max(0, Math.floor((end - start) / by) + 1);
      if (length > RANGE_LENGTH_MAX) {
        fail(`the range has ${length} elements, at most ${RANGE_LENGTH_MAX} are allowed`);
      }
      return Array.from({ length }, (_, index) => start + index * by);
    },
  },
  'States.ArrayUnique': {
    argumentsMin: 1,
    run: ([list]) =>
      listOf(list).filter(
        (item, index, all) => all.findIndex((other) => isSameJson(item, other)) === index,
      ),
  },
  'States.Base64Decode': {
    argumentsMin: 1,
    run: ([text]) => Buffer.from(shortTextOf(text), 'base64').toString('utf8'),
  },
  'States.Base64Encode': {
    argumentsMin: 1,
    run: ([text]) => Buffer.from(shortTextOf(text)).toString('base64'),
  },
  'States.Format': {
    argumentsMin: 1,
    argumentsMax: Infinity,
    run: ([template, ...values]) => format(textOf(template), values),
  },
  'States.Hash': {
    argumentsMin: 2,
    run([data, algorithm]) {
      const name = hashNames[textOf(algorithm)] ?? fail(`no algorithm "${textOf(algorithm)}"`);
      const text = typeof data === 'string' ? data : JSON.stringify(data);
      return createHash(name).update(shortTextOf(text)).digest('hex');
    },
  },
  'States.JsonMerge': {
    argumentsMin: 3,
    run([left, right, isDeep]) {
      if (isDeep !== false) fail('the third argument must be false: only shallow merges exist');
      if (!isJsonObject(left) || !isJsonObject(right)) return fail('only objects can be merged');
      return { ...left, ...right };
    },
  },
  'States.JsonToString': { argumentsMin: 1, run: ([value]) => JSON.stringify(value) },
  'States.MathAdd': {
    argumentsMin: 2,
    run: ([left, right]) => integerOf(left) + integerOf(right),
  },
  'States.StringToJson': {
    argumentsMin: 1,
    run: ([text]) => parseJson(textOf(text)) ?? fail(`"${textOf(text)}" is no JSON`),
  },
  'States.UUID': { argumentsMin: 0, run: () => randomUUID() },
};

function fail(cause: string): never {
  throw new StateError('States.IntrinsicFailure', cause);
}

/** `{}` stands for the next value; `\{`, `\}`, `\'` and `\\` for the character itself. */
function format(template: string, values: readonly JsonValue[]): string {
  const rest = [...values];
  const text = template.replaceAll(/\\(.)|\{\}/gs, (_match, escaped: string | undefined) => {
    if (escaped !== undefined) return escaped;
    const value = rest.shift();
    if (value === undefined) return fail(`"${template}" has more {} than there are arguments`);
    if (typeof value === 'object' && value !== null) fail('lists and objects cannot be formatted');
    return String(value);
  });
  return rest.length === 0 ? text : fail(`"${template}" has fewer {} than there are arguments`);
}

function listOf(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : fail(`${showData(value ?? null)} is no list`);
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : fail(`${showData(value ?? null)} is no text`);
}

function shortTextOf(value: JsonValue | undefined): string {
  const text = textOf(value);
  if (text.length <= TEXT_LENGTH_MAX) return text;
  return fail(`the text has ${text.length} characters, at most ${TEXT_LENGTH_MAX} are allowed`);
}

function integerOf(value: JsonValue | undefined): number {
  if (typeof value === 'number' && Number.isInteger(value)) return value;
  return fail(`${showData(value ?? null)} is no integer`);
}
