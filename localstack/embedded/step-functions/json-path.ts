import { isJsonObject, type JsonObject, type JsonValue } from './json-value.ts';
import { runtimeError, showData, StateError } from './state-error.ts';

/** What an expression of a definition can see. */
export interface Scope {
  /** `$` */
  readonly data: JsonValue;
  /** `$$`, the context object. */
  readonly context: JsonObject;
}

/** Something in a definition that is computed when the state runs. Throws StateError. */
export type Expression = (scope: Scope) => JsonValue;

type Step = { readonly name: string } | { readonly index: number } | 'all';

interface Path {
  readonly text: string;
  readonly root: keyof Scope;
  readonly steps: readonly Step[];
}

const stepPattern =
  /\.([^.[\]\s*()'",?@:!&|<>=$]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]|(\.\*|\[\*\])/y;

/** Names, indices and wildcards: what Reference Paths have, and `[*]`. Throws for anything else. */
function parsePath(text: string): Path {
  const root = text.startsWith('$$') ? 'context' : 'data';
  const steps: Step[] = [];
  stepPattern.lastIndex = root === 'context' ? 2 : 1;
  while (text.startsWith('$') && stepPattern.lastIndex < text.length) {
    const at = stepPattern.lastIndex;
    const match = stepPattern.exec(text);
    if (match === null) {
      throw new Error(
        `path "${text}" has "${text.slice(at)}", expected .name, ['name'], [0] or [*] (slices, filters, .. and functions are not supported locally)`,
      );
    }
    const [, name, index, quoted, doubleQuoted, all] = match;
    if (all !== undefined) steps.push('all');
    else if (index !== undefined) steps.push({ index: Number(index) });
    else steps.push({ name: name ?? (quoted ?? doubleQuoted ?? '').replaceAll(/\\(.)/g, '$1') });
  }
  if (!text.startsWith('$')) throw new Error(`path "${text}" does not begin with $`);
  return { text, root, steps };
}

/** Reads what a path points to. With a wildcard the value is the list of all that it points to. */
export function compilePath(text: string): Expression {
  const path = parsePath(text);
  return (scope) => {
    const found = find(path, scope);
    if (found !== undefined) return found;
    throw runtimeError(
      `The JSONPath '${text}' could not be found in the input '${showData(scope[path.root])}'`,
    );
  };
}

/** Whether a path points to anything. */
export function compilePresence(text: string): (scope: Scope) => boolean {
  const path = parsePath(text);
  return (scope) => {
    const found = find(path, scope);
    return path.steps.includes('all')
      ? Array.isArray(found) && found.length > 0
      : found !== undefined;
  };
}

function find({ root, steps }: Path, scope: Scope): JsonValue | undefined {
  let found: JsonValue[] = [scope[root]];
  for (const step of steps) found = found.flatMap((value) => children(value, step));
  return steps.includes('all') ? found : found[0];
}

function children(value: JsonValue, step: Step): JsonValue[] {
  if (step === 'all')
    return typeof value === 'object' && value !== null ? Object.values(value) : [];
  if ('index' in step) {
    const item = Array.isArray(value) ? value[step.index] : undefined;
    return item === undefined ? [] : [item];
  }
  return isJsonObject(value) && Object.hasOwn(value, step.name)
    ? [value[step.name] as JsonValue]
    : [];
}

/** How a result joins the raw input of its state: ResultPath. */
export type PutResult = (rawInput: JsonValue, result: JsonValue) => JsonValue;

/** Neither argument is changed. A place that cannot be made is States.ResultPathMatchFailure. */
export function compileResultPath(text: string): PutResult {
  const { root, steps } = parsePath(text);
  if (root === 'context') throw new Error(`path "${text}" writes to the context object`);
  if (steps.includes('all')) throw new Error(`path "${text}" points to more than one place`);
  const places = steps.filter((step) => step !== 'all');
  const put = (target: JsonValue | undefined, at: number, result: JsonValue): JsonValue => {
    const place = places[at];
    if (place === undefined) return result;
    if ('name' in place && (isJsonObject(target) || target === undefined)) {
      const parent = target ?? {};
      const child = Object.hasOwn(parent, place.name) ? parent[place.name] : undefined;
      return withMember(parent, place.name, put(child, at + 1, result));
    }
    if ('index' in place && Array.isArray(target) && place.index < target.length) {
      return target.with(place.index, put(target[place.index], at + 1, result));
    }
    throw new StateError(
      'States.ResultPathMatchFailure',
      `Unable to apply step ${JSON.stringify(place)} of ResultPath '${text}' to input '${showData(target ?? null)}'`,
    );
  };
  return (rawInput, result) => put(rawInput, 0, result);
}

/** A member named `__proto__` is data like any other. */
function withMember(target: JsonObject, name: string, value: JsonValue): JsonObject {
  return Object.fromEntries([...Object.entries(target), [name, value]]);
}
