/**
 * A deep copy of a plain value (null, undefined, booleans, numbers, strings, bigints, dates, bytes, arrays and plain objects of
 * them), so that what was handed over cannot change any more.
 *
 * @throws TypeError for anything else, naming where it is
 */
export function copyPlain(value: unknown, path = 'row'): unknown {
  if (typeof value !== 'object' || value === null) {
    if (typeof value === 'function' || typeof value === 'symbol') throw notPlain(value, path);
    return value;
  }
  if (Array.isArray(value)) return value.map((element, at) => copyPlain(element, `${path}[${at}]`));
  if (value instanceof Uint8Array) return new Uint8Array(value);
  if (value instanceof Date) return new Date(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw notPlain(value, path);
  const copy: Record<string, unknown> = {};
  for (const [name, element] of Object.entries(value)) {
    // Assigning it would set the prototype and lose the value.
    if (name === '__proto__') throw notPlain(value, `${path}.__proto__`);
    copy[name] = copyPlain(element, `${path}.${name}`);
  }
  return copy;
}

function notPlain(value: unknown, path: string): TypeError {
  const what = typeof value === 'object' ? value?.constructor.name : typeof value;
  return new TypeError(
    `${path} is a ${what ?? 'value'}, expected plain data: objects, arrays, numbers, strings, booleans, bigints, dates or bytes`,
  );
}
