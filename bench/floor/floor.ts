import path from 'node:path';
import type { Bench } from '../harness/bench.ts';
import type { FloorFigures, FloorSizes } from './floor-process.ts';

const processModule = path.join(import.meta.dirname, 'floor-process.ts');

// Linux adds up the CPU of a thread at each tick, every 4 ms or so: a round has to be many of them long.
const sizes: FloorSizes = { rounds: 21, warmUpRounds: 5, events: 50_000, requests: 640 };
const quickSizes: FloorSizes = { rounds: 5, warmUpRounds: 1, events: 10_000, requests: 256 };

/** What the machine allows: loops of plain TypeScript over a function's events, and requests to a server that does nothing. */
export const floor: Bench = {
  name: 'floor',
  what: 'what the machine allows: decoding alone, with state, and bare HTTP requests',

  async run({ isQuick, scratch }) {
    const task = JSON.stringify(isQuick ? quickSizes : sizes);
    const { decode, state, http } = (await scratch.run(processModule, [task])) as FloorFigures;
    return [
      {
        title: 'Floor: what the machine allows one core',
        columns: [
          { field: 'what', heading: 'what' },
          { field: 'ofDecode', heading: 'of decoding', digits: 2 },
          { field: 'micros', heading: 'CPU, µs', digits: 2 },
          { field: 'perSecond', heading: 'a second' },
        ],
        rows: [
          ['an event: base64, JSON, a Map', decode] as const,
          ['an event, with duplicates passed over and changed keys packed', state] as const,
          ['a request of 8 KB over HTTP on loopback', http] as const,
        ].map(([what, micros]) => ({
          what,
          ofDecode: micros / decode,
          micros,
          perSecond: 1e6 / micros,
        })),
      },
    ];
  },
};
