import path from 'node:path';
import type { Bench, BenchContext, Cell } from '../harness/bench.ts';
import { median } from '../harness/statistics.ts';
import type { UnitFigures, UnitRounds, UnitTask } from './unit-process.ts';

const processModule = path.join(import.meta.dirname, 'unit-process.ts');

type Load = Pick<UnitTask, 'keys' | 'events' | 'hasSink'>;

const loads: readonly Load[] = [
  { keys: 10, events: 1_000, hasSink: false },
  { keys: 1_000, events: 1_000, hasSink: false },
  { keys: 10_000, events: 10_000, hasSink: false },
  { keys: 10, events: 1_000, hasSink: true },
  { keys: 1_000, events: 1_000, hasSink: true },
  { keys: 10_000, events: 10_000, hasSink: true },
];
const quickLoads: readonly Load[] = [{ keys: 50, events: 200, hasSink: true }];

const rounds = 5;
const quickRounds = 1;

/** What a unit asks of DynamoDB and S3 through the real adapters, and what asking takes of this process. */
export const unitRequests: Bench = {
  name: 'unit-requests',
  what: 'requests, units and CPU of the real adapters for each 1,000 events, warm and cold',

  async run(context) {
    const rows: Readonly<Record<string, Cell>>[] = [];
    for (const load of context.isQuick ? quickLoads : loads) {
      const { warm, cold } = await measure(load, context);
      rows.push(summarize(load, 'warm', warm), summarize(load, 'cold', cold));
    }
    const what = [
      { field: 'keys', heading: 'keys in a batch' },
      { field: 'sink', heading: 'sink' },
      { field: 'cache', heading: 'cache' },
    ];
    return [
      {
        title: 'A unit: state writes alone, for each 1,000 events',
        columns: [
          ...what,
          { field: 'stateWrites', heading: 'write requests', digits: 1 },
          { field: 'keysPerWrite', heading: 'keys/request', digits: 1 },
          { field: 'stateWriteUnits', heading: 'write units' },
          { field: 'stateReads', heading: 'read requests', digits: 1 },
          { field: 'stateReadUnits', heading: 'read units' },
          { field: 'stateMicros', heading: 'CPU of writing, µs/event', digits: 1 },
        ],
        rows,
      },
      {
        title: 'A unit: with changelog, progress and sinks, for each 1,000 events',
        columns: [
          ...what,
          { field: 'dynamodbRequests', heading: 'DynamoDB requests', digits: 1 },
          { field: 'writeUnits', heading: 'write units' },
          { field: 'readUnits', heading: 'read units' },
          { field: 's3Requests', heading: 'S3 requests', digits: 1 },
          { field: 'cpuMicros', heading: 'CPU, µs/event', digits: 1 },
        ],
        rows,
      },
    ];
  },
};

async function measure(load: Load, { isQuick, scratch, log }: BenchContext): Promise<UnitRounds> {
  log(`${load.keys} keys${load.hasSink ? ' with a sink' : ''}`);
  const task: UnitTask = { ...load, rounds: isQuick ? quickRounds : rounds };
  return (await scratch.run(processModule, [JSON.stringify(task)])) as UnitRounds;
}

function summarize(
  { keys, events, hasSink }: Load,
  cache: 'warm' | 'cold',
  figures: readonly UnitFigures[],
): Readonly<Record<string, Cell>> {
  const medianOf = (of: (one: UnitFigures) => number): number => median(figures.map(of));
  const perThousand = (of: (one: UnitFigures) => number): number => (1000 * medianOf(of)) / events;
  const writes = (one: UnitFigures): number =>
    requestsOf(one, 'BatchExecuteStatement') + requestsOf(one, 'PutItem');
  return {
    keys,
    sink: hasSink ? 'upsert' : 'none',
    cache,
    stateWrites: perThousand(writes),
    keysPerWrite: medianOf((one) => one.keysWritten / writes(one)),
    stateWriteUnits: perThousand((one) => one.usage.dynamodb['state']?.writeUnits ?? 0),
    stateReads: perThousand((one) => requestsOf(one, 'BatchGetItem')),
    stateReadUnits: perThousand((one) => one.usage.dynamodb['state']?.readUnits ?? 0),
    stateMicros: medianOf((one) => one.stateCpuMicros) / events,
    dynamodbRequests: perThousand((one) =>
      sumOf(Object.values(one.usage.dynamodb).flatMap((t) => Object.values(t.requests))),
    ),
    writeUnits: perThousand((one) =>
      sumOf(Object.values(one.usage.dynamodb).map((table) => table.writeUnits)),
    ),
    readUnits: perThousand((one) =>
      sumOf(Object.values(one.usage.dynamodb).map((table) => table.readUnits)),
    ),
    s3Requests: perThousand((one) => sumOf(Object.values(one.usage.s3))),
    cpuMicros: medianOf((one) => one.cpuMicros) / events,
  };
}

/** Of the state table. */
function requestsOf({ usage }: UnitFigures, operation: string): number {
  return usage.dynamodb['state']?.requests[operation] ?? 0;
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
