import path from 'node:path';
import type { Spread } from '../floor/events.ts';
import type { Bench, BenchContext, Cell } from '../harness/bench.ts';
import { median } from '../harness/statistics.ts';
import type { LoopOperator } from './loop-operators.ts';
import type { LoopFigures, LoopTask } from './loop-process.ts';

const processModule = path.join(import.meta.dirname, 'loop-process.ts');

type Variant = Pick<LoopTask, 'operator' | 'keys' | 'spread' | 'batchRecords'>;

/** What a shard takes in a second, and all that Lambda delivers at once. */
const second = 1_000;
const full = 10_000;

function vary(
  operator: LoopOperator,
  spread: Spread,
  keys: number,
  batchRecords = second,
): Variant {
  return { operator, spread, keys, batchRecords };
}

/** The first one has the target. */
const variants: readonly Variant[] = [
  vary('aggregating', 'uniform', 1_000),
  vary('aggregating', 'zipf', 1_000),
  vary('aggregating', 'uniform', 1_000, full),
  vary('aggregating', 'zipf', 1_000, full),
  vary('aggregating', 'uniform', 100),
  vary('aggregating', 'uniform', 10_000),
  vary('aggregating', 'zipf', 10_000),
  vary('aggregating', 'uniform', 100_000),
  vary('aggregating', 'zipf', 100_000),
  vary('aggregating', 'uniform', 1_000_000),
  vary('aggregating', 'zipf', 1_000_000),
  vary('value', 'uniform', 1_000),
  vary('value', 'zipf', 1_000),
  vary('list', 'uniform', 1_000),
  vary('list', 'zipf', 1_000),
  vary('map', 'uniform', 1_000),
  vary('map', 'zipf', 1_000),
  vary('windows', 'uniform', 1_000),
  vary('windows', 'zipf', 1_000),
];

const quickVariants = [vary('aggregating', 'uniform', 100), vary('windows', 'zipf', 100)];

const sizes = { rounds: 15, events: 40_000, warmUpEvents: 200_000 };
const quickSizes = { rounds: 5, events: 2_000, warmUpEvents: 4_000 };

/** Event time between two events: a window of a minute gets 10 of each of 1,000 keys. */
const everyMs = 6;

/**
 * What one core does from a Lambda event to a committed unit, over ports that cost next to nothing, against loops of plain
 * TypeScript over the same events. Each variant has a process of its own, as a function has; in it product and floors take
 * turns.
 */
export const recordLoop: Bench = {
  name: 'record-loop',
  what: 'events a second of one core from batch to committed unit, against plain loops',

  async run(context) {
    const chosen = context.isQuick ? quickVariants : variants;
    const rows: Readonly<Record<string, Cell>>[] = [];
    for (const variant of chosen) rows.push(summarize(variant, await measure(variant, context)));
    const what = [
      { field: 'state', heading: 'state' },
      { field: 'keys', heading: 'keys' },
      { field: 'spread', heading: 'spread' },
      { field: 'delivery', heading: 'events in a delivery' },
    ];
    return [
      {
        title: 'Record loop: share of what plain loops do',
        columns: [
          ...what,
          { field: 'ofStateFloor', heading: 'of loop with state', digits: 2 },
          { field: 'ofDecodeFloor', heading: 'of decode loop', digits: 2 },
          { field: 'keysWrittenPerEvent', heading: 'keys written/event', digits: 2 },
          { field: 'cacheHitPercent', heading: 'cache hits, %' },
        ],
        rows,
      },
      {
        title: 'Record loop: CPU for each event',
        columns: [
          ...what,
          { field: 'eventsPerSecond', heading: 'events/s of a core' },
          { field: 'productMicros', heading: 'product, µs', digits: 2 },
          { field: 'stateFloorMicros', heading: 'loop with state, µs', digits: 2 },
          { field: 'decodeFloorMicros', heading: 'decode loop, µs', digits: 2 },
        ],
        rows,
      },
    ];
  },
};

async function measure(
  variant: Variant,
  { isQuick, scratch, log }: BenchContext,
): Promise<LoopFigures> {
  log(
    `${variant.operator}, ${variant.keys} ${variant.spread} keys, ${variant.batchRecords} events in a delivery`,
  );
  const task: LoopTask = { ...variant, everyMs, ...(isQuick ? quickSizes : sizes) };
  return (await scratch.run(processModule, [JSON.stringify(task)])) as LoopFigures;
}

function summarize(variant: Variant, figures: LoopFigures): Readonly<Record<string, Cell>> {
  const { decode, state, product } = figures;
  // By rounds: what slows one down slows its neighbours, too.
  const shareOf = (floor: readonly number[]): number =>
    median(floor.map((micros, round) => micros / product[round]!));
  return {
    state: variant.operator,
    keys: variant.keys,
    spread: variant.spread,
    delivery: variant.batchRecords,
    ofStateFloor: shareOf(state),
    ofDecodeFloor: shareOf(decode),
    keysWrittenPerEvent: figures.keysWrittenPerEvent,
    cacheHitPercent: 100 * figures.cacheHitShare,
    eventsPerSecond: 1e6 / median(product),
    productMicros: median(product),
    stateFloorMicros: median(state),
    decodeFloorMicros: median(decode),
  };
}
