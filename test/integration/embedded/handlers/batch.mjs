// Takes batches and notes each one in RECORD_FILE. A record whose data asks for it makes its first deliveries fail:
// { "id": …, "how": "report" | "throw" | "exit" | "hang" | "fill-memory", "times": n }
import { appendFileSync, existsSync, readFileSync } from 'node:fs';

const recordFile = process.env.RECORD_FILE;

function earlierDeliveries(id) {
  if (!existsSync(recordFile)) return 0;
  const lines = readFileSync(recordFile, 'utf8').split('\n').filter(Boolean);
  return lines.filter((line) => JSON.parse(line).ids.includes(id)).length;
}

export async function handler(event) {
  const records = event.Records.map((record) => ({
    ...JSON.parse(Buffer.from(record.kinesis.data, 'base64').toString('utf8')),
    sequenceNumber: record.kinesis.sequenceNumber,
  }));
  const counts = new Map(records.map(({ id }) => [id, earlierDeliveries(id)]));
  appendFileSync(
    recordFile,
    JSON.stringify({
      shardId: event.Records[0].eventID.split(':')[0],
      ids: records.map(({ id }) => id),
      pid: process.pid,
    }) + '\n',
  );
  const batchItemFailures = [];
  for (const { id, how, times, sequenceNumber } of records) {
    if (how === undefined || counts.get(id) >= times) continue;
    if (how === 'throw') throw new Error(`${id} is not wanted yet`);
    if (how === 'exit') process.exit(1);
    if (how === 'hang') await new Promise(() => setInterval(() => {}, 1000));
    if (how === 'fill-memory') {
      const hoard = [];
      for (;;) hoard.push(Array.from({ length: 100_000 }, (_, index) => ({ index })));
    }
    batchItemFailures.push({ itemIdentifier: sequenceNumber });
  }
  return { batchItemFailures };
}
