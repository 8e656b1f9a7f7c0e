import { md5Bytes } from '../../../shared/core/platform.ts';

/** One record of an aggregate; `explicitHashKey` and `tags` are what some producers add. */
export interface AggregatedInput {
  readonly partitionKey: string;
  readonly data: Uint8Array | string;
  readonly explicitHashKey?: string;
  readonly tags?: readonly { readonly key: string; readonly value?: string }[];
}

const magic = [0xf3, 0x89, 0x9a, 0xc2];
const encoder = new TextEncoder();

/** Writes records as the Kinesis Producer Library aggregates them: keys in tables, records with indexes into those. */
export function aggregate(records: readonly AggregatedInput[]): Uint8Array {
  const keys = [...new Set(records.map((record) => record.partitionKey))];
  const hashKeys = [...new Set(records.flatMap((record) => record.explicitHashKey ?? []))];
  return seal([
    ...keys.flatMap((key) => bytesField(1, key)),
    ...hashKeys.flatMap((key) => bytesField(2, key)),
    ...records.flatMap((record) =>
      bytesField(3, [
        ...varintField(1, keys.indexOf(record.partitionKey)),
        ...(record.explicitHashKey === undefined
          ? []
          : varintField(2, hashKeys.indexOf(record.explicitHashKey))),
        ...bytesField(3, record.data),
        ...(record.tags ?? []).flatMap(({ key, value }) =>
          bytesField(4, [
            ...bytesField(1, key),
            ...(value === undefined ? [] : bytesField(2, value)),
          ]),
        ),
      ]),
    ),
  ]);
}

/** Puts magic and digest around the bytes of a protobuf message. */
export function seal(message: readonly number[]): Uint8Array {
  return new Uint8Array([...magic, ...message, ...md5Bytes(new Uint8Array(message))]);
}

export function varintField(number: number, value: number): number[] {
  return [...varint(number * 8), ...varint(value)];
}

export function bytesField(number: number, value: Uint8Array | string | number[]): number[] {
  const bytes = typeof value === 'string' ? encoder.encode(value) : value;
  return [...varint(number * 8 + 2), ...varint(bytes.length), ...bytes];
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) + 0x80);
    rest = Math.floor(rest / 0x80);
  }
  return [...bytes, rest];
}
