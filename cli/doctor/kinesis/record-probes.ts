import { PutRecordsCommand } from '@aws-sdk/client-kinesis';
import { differs, firstDifference, type Probe } from '../finding.ts';
import { readAll, textsOf } from './read-all.ts';
import type { StreamBed } from './stream-bed.ts';

/** What the probes put at first, in this order. */
const firstTexts = ['r0', 'r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7'];

/** As AWS writes them. The runtime compares sequence numbers as numbers, whatever their length. */
const sequenceDigits = 56;

const description: Probe<StreamBed> = {
  capability: 'creation time and retention are told',
  need: { kind: 'needed', text: 'a stream that was created anew is another one' },
  run: async ({ reader }) => {
    const { incarnation, retentionHours } = await reader.describe();
    return firstDifference(
      [
        Math.abs(Date.now() - incarnation.createdAtMs) < 600_000,
        'a creation time of a moment ago',
        new Date(incarnation.createdAtMs).toISOString(),
      ],
      [retentionHours >= 24, 'a retention of 24 hours', `${retentionHours}`],
    );
  },
};

const order: Probe<StreamBed> = {
  capability: 'records in order, with growing sequence numbers',
  need: { kind: 'needed', text: 'a position is a sequence number' },
  run: async ({ client, stream, reader }) => {
    // One request each: within a request AWS promises no order.
    for (const text of firstTexts) await putText(client, stream, text);
    const [shard] = await reader.listShards();
    if (shard === undefined) return differs('a shard', '');
    const { records } = await readAll(reader, shard.shardId);
    const sequences = records.map(({ sequence }) => sequence);
    const isGrowing = sequences.every(
      (sequence, at) => at === 0 || isGreater(sequence, sequences[at - 1]!),
    );
    const odd = sequences.find((sequence) => !/^\d+$/.test(sequence));
    const late = records.find(({ arrivalMs }) => Math.abs(Date.now() - arrivalMs) > 600_000);
    const finding = firstDifference(
      [odd === undefined, 'sequence numbers of digits', `${odd}`],
      [
        textsOf(records) === firstTexts.join(' '),
        `from the oldest on: ${firstTexts.join(' ')}`,
        textsOf(records),
      ],
      [isGrowing, 'growing sequence numbers', sequences.join(' ')],
      [late === undefined, 'arrival times of a moment ago', `${late?.arrivalMs} ms`],
    );
    const digits = sequences[0]?.length ?? 0;
    return finding.result !== 'works' || digits === sequenceDigits
      ? finding
      : { result: 'works', note: `${digits} digits, not ${sequenceDigits}; any length will do` };
  },
};

const readingOn: Probe<StreamBed> = {
  capability: 'reading on at a sequence number',
  need: { kind: 'needed', text: "Holdfast's own reader: catch-up and replay" },
  run: async ({ reader }) => {
    const [shard] = await reader.listShards();
    const { records } = await readAll(reader, shard?.shardId ?? '');
    const third = records[2];
    if (third === undefined) return differs('records to read behind', `${records.length}`);
    const { records: rest } = await readAll(reader, shard!.shardId, third.sequence);
    const expected = textsOf(records.slice(3));
    return firstDifference([
      textsOf(rest) === expected,
      `behind ${textsOf([third])}: ${expected}`,
      textsOf(rest),
    ]);
  },
};

export const recordProbes = [description, order, readingOn];

async function putText(client: StreamBed['client'], stream: string, text: string): Promise<void> {
  const Data = new TextEncoder().encode(text);
  await client.send(
    new PutRecordsCommand({ StreamName: stream, Records: [{ PartitionKey: 'key', Data }] }),
  );
}

export function isGreater(sequence: string, than: string): boolean {
  return BigInt(sequence) > BigInt(than);
}
