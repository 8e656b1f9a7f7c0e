import type { AttributeValue, Item } from './dynalite-internals.ts';

/** Largest item, in bytes. */
export const itemBytesMax = 400 * 1024;

/** Size of an item as it is billed: names and values, text in UTF-8. */
export function itemBytes(item: Item): number {
  let bytes = 0;
  for (const name in item) {
    const value = item[name];
    if (value !== undefined) bytes += Buffer.byteLength(name) + valueBytes(value);
  }
  return bytes;
}

function valueBytes(value: AttributeValue): number {
  const [typed] = Object.entries(value);
  return typed === undefined ? 0 : typedBytes(...typed);
}

function typedBytes(type: string, value: unknown): number {
  switch (type) {
    case 'S':
      return Buffer.byteLength(value as string);
    case 'N':
      return numberBytes(value as string);
    case 'B':
      return Buffer.byteLength(value as string, 'base64');
    case 'SS':
    case 'NS':
    case 'BS':
      return sum(value as string[], (member) => typedBytes(type.charAt(0), member));
    case 'L':
      return 3 + sum(value as AttributeValue[], (member) => 1 + valueBytes(member));
    case 'M':
      return 3 + Object.keys(value as Item).length + itemBytes(value as Item);
    default:
      // BOOL, NULL
      return 1;
  }
}

/** About one byte for two significant digits, plus one, plus one for a sign. */
function numberBytes(text: string): number {
  const digits = text
    .replace(/e.*$/i, '')
    .replace(/[^0-9]/g, '')
    .replace(/^0+/, '')
    .replace(/0+$/, '').length;
  return digits === 0 ? 1 : 1 + Math.ceil(digits / 2) + (text.startsWith('-') ? 1 : 0);
}

function sum<T>(values: readonly T[], measure: (value: T) => number): number {
  let total = 0;
  for (const value of values) total += measure(value);
  return total;
}

/**
 * Write units of one item: 1 KB each, at least 1. The bytes are the larger of what was and what is; a failed
 * condition costs by what was. Index writes are not counted.
 */
export function writeUnits(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / 1024));
}

/** Read units of one item, or of the bytes of one page: 4 KB each, half of that if not consistent. */
export function readUnits(bytes: number, isConsistent: boolean): number {
  return Math.max(1, Math.ceil(bytes / 4096)) * (isConsistent ? 1 : 0.5);
}
