import { median, takeTurns } from '../harness/statistics.ts';
import { createDecodeFloor, createStateFloor, type KinesisEvent } from './decode-floor.ts';
import { createEventSource } from './events.ts';
import { openHttpFloor } from './http-floor.ts';

/*
 * A process that measures the floors: node floor-process.ts <sizes as JSON>. Prints medians as JSON: CPU of its thread, µs.
 */

export interface FloorSizes {
  readonly rounds: number;
  readonly events: number;
  readonly requests: number;
  readonly warmUpRounds: number;
}

export interface FloorFigures {
  readonly decode: number;
  readonly state: number;
  readonly http: number;
}

/** What 25 items of a small state take. */
const bodyBytes = 8_000;
const batchRecords = 1_000;
const keys = 1_000;

const { rounds, events, requests, warmUpRounds } = JSON.parse(process.argv[2]!) as FloorSizes;
const source = createEventSource(keys, 'uniform');
const floors = { decode: createDecodeFloor(), state: createStateFloor() };
const http = await openHttpFloor();
let made = 0;
const variants = ['decode', 'state', 'http'] as const;
const measured = await takeTurns(rounds + warmUpRounds, variants, async (variant) => {
  if (variant === 'http') return http.measure(requests, bodyBytes);
  const batches = makeBatches();
  const before = process.threadCpuUsage();
  for (const batch of batches) floors[variant](batch);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / events;
});
await http.close();
const [decode, state, overHttp] = measured.map((one) => median(one.slice(warmUpRounds)));
const figures: FloorFigures = { decode: decode!, state: state!, http: overHttp! };
process.stdout.write(`${JSON.stringify(figures)}\n`);

function makeBatches(): KinesisEvent[] {
  const Records = source.next(events).map((event) => {
    made += 1;
    const data = Buffer.from(JSON.stringify(event)).toString('base64');
    return { kinesis: { data, sequenceNumber: String(made).padStart(56, '0') } };
  });
  return Array.from({ length: Math.ceil(events / batchRecords) }, (_, at) => ({
    Records: Records.slice(at * batchRecords, (at + 1) * batchRecords),
  }));
}
