import path from 'node:path';
import { tableOf } from '../embedded/counting-job.ts';
import { startEmulators, sumOf, sumTables, type EmulatorPlaces } from '../embedded/emulators.ts';
import type { Bench, BenchContext, Cell } from '../harness/bench.ts';
import { median } from '../harness/statistics.ts';
import type { UnitFigures, UnitRounds, UnitTask } from './unit-process.ts';

const processModule = path.join(import.meta.dirname, 'unit-process.ts');

type Load = Pick<UnitTask, 'keys' | 'events' | 'hasSink'>;

const loads: readonly Load[] = [
  { keys: 10, events: 1_000, hasSink: false },
  { keys: 1_000, events: 1_000, hasSink: false },
  { keys: 1_000, events: 10_000, hasSink: false },
  { keys: 10_000, events: 10_000, hasSink: false },
  { keys: 10, events: 1_000, hasSink: true },
  { keys: 1_000, events: 1_000, hasSink: true },
  { keys: 1_000, events: 10_000, hasSink: true },
  { keys: 10_000, events: 10_000, hasSink: true },
];
const quickLoads: readonly Load[] = [{ keys: 50, events: 200, hasSink: true }];

const sizes = { rounds: 5, warmUpRequests: 1_000 };
const quickSizes = { rounds: 1, warmUpRequests: 10 };

/** What a unit asks of DynamoDB and S3 through the real adapters, and what asking takes of this process. */
export const unitRequests: Bench = {
  name: 'unit-requests',
  what: 'requests, units and CPU of the real adapters for each 1,000 events, warm and cold',

  async run(context) {
    const emulators = await startEmulators(context.scratch);
    const rows: Readonly<Record<string, Cell>>[] = [];
    for (const load of context.isQuick ? quickLoads : loads) {
      const { warm, cold } = await measure(load, emulators, context);
      rows.push(summarize(load, 'warm', warm), summarize(load, 'cold', cold));
    }
    const what = [
      { field: 'events', heading: 'events in a delivery' },
      { field: 'keys', heading: 'keys in it' },
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

async function measure(
  load: Load,
  emulators: EmulatorPlaces,
  { isQuick, scratch, log }: BenchContext,
): Promise<UnitRounds> {
  log(`${load.events} events of ${load.keys} keys${load.hasSink ? ' with a sink' : ''}`);
  const size = isQuick ? quickSizes : sizes;
  const task: UnitTask = { ...load, ...size, emulators, jobId: nameJob(load) };
  return (await scratch.run(processModule, [JSON.stringify(task)])) as UnitRounds;
}

/** Each has tables of its own. */
function nameJob({ keys, events, hasSink }: Load): string {
  return `unit-${keys}-${events}${hasSink ? '-sink' : ''}`;
}

function summarize(
  load: Load,
  cache: 'warm' | 'cold',
  figures: readonly UnitFigures[],
): Readonly<Record<string, Cell>> {
  const { keys, events, hasSink } = load;
  const stateTable = tableOf(nameJob(load), 'state');
  const isState = (table: string): boolean => table === stateTable;
  // Of the state table.
  const requestsOf = ({ usage }: UnitFigures, operation: string): number =>
    usage.dynamodb[stateTable]?.requests[operation] ?? 0;
  const medianOf = (of: (one: UnitFigures) => number): number => median(figures.map(of));
  const perThousand = (of: (one: UnitFigures) => number): number => (1000 * medianOf(of)) / events;
  const writes = (one: UnitFigures): number =>
    requestsOf(one, 'BatchExecuteStatement') + requestsOf(one, 'PutItem');
  return {
    events,
    keys,
    sink: hasSink ? 'upsert' : 'none',
    cache,
    stateWrites: perThousand(writes),
    keysPerWrite: medianOf((one) => one.keysWritten / writes(one)),
    stateWriteUnits: perThousand(({ usage }) => sumTables(usage, isState).writeUnits),
    stateReads: perThousand((one) => requestsOf(one, 'BatchGetItem')),
    stateReadUnits: perThousand(({ usage }) => sumTables(usage, isState).readUnits),
    stateMicros: medianOf((one) => one.stateCpuMicros) / events,
    dynamodbRequests: perThousand(({ usage }) => sumTables(usage).requests),
    writeUnits: perThousand(({ usage }) => sumTables(usage).writeUnits),
    readUnits: perThousand(({ usage }) => sumTables(usage).readUnits),
    s3Requests: perThousand(({ usage }) => sumOf(usage.s3)),
    cpuMicros: medianOf((one) => one.cpuMicros) / events,
  };
}
