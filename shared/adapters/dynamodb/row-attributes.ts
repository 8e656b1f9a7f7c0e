import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Item } from './table-keys.ts';

/*
 * Writes what a row holds as attributes. It takes every value that an emission can carry: an output that is in its key's
 * item already must not be refused here, or its channel would stand still for ever. What DynamoDB has no type for
 * becomes text.
 *
 *   text S · whole and decimal numbers, bigint N · bytes B · true, false BOOL · null NULL · list, Set L · object, Map M
 *   dates S (ISO 8601) · NaN, infinite numbers and those beyond DynamoDB's range S · undefined is left out
 *   what is nested deeper than DynamoDB allows S (JSON)
 */

/** DynamoDB nests 32 levels; the row itself is one of them. */
const depthMax = 30;

/** The declared columns that a row has; what the schema does not declare is not written. */
export function encodeColumns(value: unknown, columns: readonly string[]): Item {
  const attributes: Item = {};
  if (!isRecord(value)) return attributes;
  for (const column of columns) {
    const attribute = encodeValue(value[column]);
    if (attribute !== undefined) attributes[column] = attribute;
  }
  return attributes;
}

function encodeValue(value: unknown, depth = 0): AttributeValue | undefined {
  switch (typeof value) {
    case 'string':
      // Halves of surrogate pairs are no text to DynamoDB.
      return { S: value.toWellFormed() };
    case 'number':
      return isNumberOfDynamodb(value) ? { N: String(value) } : { S: String(value) };
    case 'bigint':
      return { N: value.toString() };
    case 'boolean':
      return { BOOL: value };
    case 'object':
      return encodeObject(value, depth);
    default:
      return undefined;
  }
}

function encodeObject(value: object | null, depth: number): AttributeValue {
  if (value === null) return { NULL: true };
  if (value instanceof Uint8Array) return { B: value };
  if (value instanceof Date) return { S: formatDate(value) };
  if (depth >= depthMax) return { S: JSON.stringify(value, spellBigint) };
  if (Array.isArray(value) || value instanceof Set) {
    // A list keeps its places.
    const elements: readonly unknown[] = [...value];
    return { L: elements.map((element) => encodeValue(element, depth + 1) ?? { NULL: true }) };
  }
  const entries = value instanceof Map ? value : Object.entries(value);
  const members: Item = {};
  for (const [name, member] of entries) {
    const attribute = encodeValue(member, depth + 1);
    if (attribute !== undefined) members[String(name)] = attribute;
  }
  return { M: members };
}

function spellBigint(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}

function formatDate(date: Date): string {
  return Number.isNaN(date.getTime()) ? 'Invalid Date' : date.toISOString();
}

/** DynamoDB's numbers reach from 1E-130 to 9.99…E+125. */
function isNumberOfDynamodb(value: number): boolean {
  const size = Math.abs(value);
  return size === 0 || (size >= 1e-130 && size < 1e126);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
