import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Item } from '../../shared/adapters/dynamodb/table-keys.ts';

/*
 * Items in the form that DynamoDB's own JSON has, with bytes in base64, one item after the other with sorted attributes.
 */

export function writeItems(items: readonly Item[]): string {
  const sorted = items.map((item) =>
    Object.fromEntries(
      Object.entries(item)
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, value]) => [name, toJson(value)]),
    ),
  );
  return `${JSON.stringify(sorted, undefined, 2)}\n`;
}

export function readItems(text: string): Item[] {
  return (JSON.parse(text) as Record<string, JsonAttribute>[]).map((item) =>
    Object.fromEntries(Object.entries(item).map(([name, value]) => [name, fromJson(value)])),
  );
}

/** Bytes are the only attribute that JSON cannot hold; they occur at the top level alone. */
type JsonAttribute = AttributeValue | { readonly B: string };

function toJson(value: AttributeValue): JsonAttribute {
  return value.B === undefined ? value : { B: Buffer.from(value.B).toString('base64') };
}

function fromJson(value: JsonAttribute): AttributeValue {
  if (typeof value.B !== 'string') return value;
  return { B: new Uint8Array(Buffer.from(value.B, 'base64')) };
}
