import { md5Bytes } from './platform.ts';

/*
 * KPL aggregation: `F3 89 9A C2` | protobuf AggregatedRecord (proto2) | MD5 of the protobuf.
 * Format: https://github.com/awslabs/amazon-kinesis-producer/blob/master/aggregation-format.md
 *
 *   AggregatedRecord { repeated string partition_key_table = 1; repeated string explicit_hash_key_table = 2;
 *                      repeated Record records = 3; }
 *   Record { required uint64 partition_key_index = 1; optional uint64 explicit_hash_key_index = 2;
 *            required bytes data = 3; repeated Tag tags = 4; }
 */

export interface SubRecord {
  readonly partitionKey: string;
  readonly data: Uint8Array;
}

const magicBytes = [0xf3, 0x89, 0x9a, 0xc2] as const;
const digestBytes = 16;
const text = new TextDecoder();

/**
 * The records inside an aggregated one, in order; undefined where the data is not a whole, intact aggregate. Such data
 * is an ordinary record that happens to begin like one, as the KPL's own consumers read it.
 */
export function deaggregate(data: Uint8Array): SubRecord[] | undefined {
  if (data.length < magicBytes.length + digestBytes) return undefined;
  for (let at = 0; at < magicBytes.length; at += 1)
    if (data[at] !== magicBytes[at]) return undefined;
  const message = data.subarray(magicBytes.length, data.length - digestBytes);
  const digest = md5Bytes(message);
  const promised = data.subarray(data.length - digestBytes);
  if (digest.some((byte, at) => byte !== promised[at])) return undefined;
  return readAggregate(message);
}

function readAggregate(message: Uint8Array): SubRecord[] | undefined {
  const keys: string[] = [];
  const records: Uint8Array[] = [];
  for (const field of readFields(message)) {
    if (field === undefined) return undefined;
    if (field.bytes === undefined) continue;
    if (field.number === 1) keys.push(text.decode(field.bytes));
    else if (field.number === 3) records.push(field.bytes);
  }
  const result: SubRecord[] = [];
  for (const record of records) {
    const read = readSubRecord(record, keys);
    if (read === undefined) return undefined;
    result.push(read);
  }
  return result.length === 0 ? undefined : result;
}

function readSubRecord(message: Uint8Array, keys: readonly string[]): SubRecord | undefined {
  let partitionKey: string | undefined;
  let data: Uint8Array | undefined;
  for (const field of readFields(message)) {
    if (field === undefined) return undefined;
    if (field.number === 1) partitionKey = keys[field.varint];
    else if (field.number === 3) data = field.bytes;
  }
  return partitionKey === undefined || data === undefined ? undefined : { partitionKey, data };
}

interface Field {
  readonly number: number;
  readonly varint: number;
  readonly bytes: Uint8Array | undefined;
}

/** The fields of a protobuf message; `undefined` once, at the end, where the bytes are not one. */
function* readFields(message: Uint8Array): Generator<Field | undefined> {
  let at = 0;
  const readVarint = (): number => {
    let value = 0;
    for (let shift = 1; at < message.length && shift <= 2 ** 49; shift *= 128) {
      const byte = message[at++]!;
      value += (byte & 0x7f) * shift;
      if (byte < 0x80) return value;
    }
    return -1;
  };
  while (at < message.length) {
    const tag = readVarint();
    const wireType = tag & 7;
    const number = Math.floor(tag / 8);
    const value = tag < 0 ? -1 : readVarint();
    if (value < 0 || (wireType !== 0 && wireType !== 2)) {
      yield undefined;
      return;
    }
    if (wireType === 0) {
      yield { number, varint: value, bytes: undefined };
    } else {
      if (at + value > message.length) {
        yield undefined;
        return;
      }
      yield { number, varint: -1, bytes: message.subarray(at, at + value) };
      at += value;
    }
  }
}
