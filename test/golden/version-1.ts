import type { Emission, Spill } from '../../shared/core/emission.ts';
import type { Segment } from '../../shared/core/segment.ts';
import type { StoredItem } from '../../shared/core/stored-item.ts';
import { mean } from '../../shared/operator/aggregator.ts';
import { aggregatingState, listState, mapState, valueState } from '../../shared/operator/state.ts';

/*
 * What the files of the first formats say, spelled out. It is never changed: a new format gets new files and values.
 */

const sequenceOf = (end: number): string =>
  `4965917205192187607335963085656216345508209099001980${String(end).padStart(4, '0')}`;

export const bytesOf = (...bytes: number[]): Uint8Array => new Uint8Array(bytes);

/** States of every kind as an operator declares them, at two schema versions, with and without a codec. */
export const stateDescriptors = {
  total: valueState<number>({ version: 2 }),
  last: listState<string>({ keepLast: 3 }),
  seen: mapState<Date>({
    codec: { encode: (date) => date.getTime(), decode: (ms) => new Date(ms as number) },
  }),
  mean: aggregatingState(mean()),
  anything: valueState<unknown>(),
  unset: valueState<number>(),
};

export const liveStates: unknown[] = [
  -12.5,
  ['a', 'ä', '€😀'],
  new Map([
    ['second', new Date(1_735_689_600_000)],
    ['first', new Date(0)],
  ]),
  [7.5, 3],
  {
    none: null,
    yes: true,
    no: false,
    small: 5,
    negative: -200,
    large: 9_007_199_254_740_991,
    fraction: 0.1,
    big: 9_223_372_036_854_775_807n,
    date: new Date(Date.UTC(2025, 0, 1, 12, 30, 15, 250)),
    bytes: bytesOf(0, 1, 255),
    nested: [[], {}, [{ deep: 'x' }]],
  },
  undefined,
];

export const emissions: Emission[] = [
  {
    position: { sequence: sequenceOf(1), sub: 0 },
    index: 0,
    sink: 'alerts',
    row: '',
    value: { date: '2001/01/05 10:30', delays: [61, 90, 120] },
  },
  {
    position: { sequence: sequenceOf(1), sub: 0 },
    index: 1,
    sink: 'airports',
    row: '-',
    value: { flights: 3, meanDelay: 90.333, destinations: { LAX: 2, DEN: 1 } },
  },
  {
    position: { sequence: sequenceOf(2), sub: 17 },
    index: 4,
    sink: 'airports',
    row: 'gone',
    value: null,
  },
  {
    position: { sequence: sequenceOf(3), sub: 0 },
    index: 0,
    sink: '!dead-letters',
    row: '',
    value: {
      reason: 'undecodable',
      message: 'Unexpected end of JSON input',
      partitionKey: 'SEA',
      data: bytesOf(0x7b, 0x22),
      arrivalMs: 1_735_689_600_123,
    },
  },
];

const spill: Spill = {
  name: 'jobs/demo/generations/00000001/emissions/flight-delays/flights@5/shardId-000000000000/a-b-c',
  bytes: 70_123,
  crc: 3_405_691_582,
  last: { sequence: sequenceOf(3), sub: 2 },
};

/** In the order of the file: by key group, then by key. */
export const items: StoredItem[] = [
  {
    key: 'SEA',
    keyGroup: 3,
    version: 1_099_511_627_775,
    position: { sequence: sequenceOf(3), sub: 0 },
    arrivalMs: 1_735_689_600_123,
    states: bytesOf(0xde, 0, 1, 0xa5, 0x74, 0x6f, 0x74, 0x61, 0x6c, 0x92, 1, 5),
    emissions: bytesOf(0x90),
    spills: [],
    timers: [],
  },
  {
    key: 'Zürich',
    keyGroup: 3,
    version: 7,
    position: { sequence: sequenceOf(2), sub: 17 },
    arrivalMs: 1_735_689_600_000,
    states: undefined,
    emissions: undefined,
    spills: [],
    timers: [],
  },
  {
    key: 'DEN',
    keyGroup: 127,
    version: 42,
    position: { sequence: sequenceOf(9), sub: 0 },
    arrivalMs: 1_735_689_601_000,
    states: bytesOf(1, 2, 3, 4, 5, 6, 7, 8),
    emissions: undefined,
    spills: [spill],
    timers: [],
  },
];

export const segment: Segment = {
  header: {
    channel: 'flight-delays/flights@1735689600000/shardId-000000000000',
    generation: 2,
    number: 131,
    attempt: '0123456789abcdef0123456789abcdef',
    from: { sequence: sequenceOf(0), sub: 3 },
    to: { sequence: sequenceOf(3), sub: 0 },
    chain: [
      { number: 130, attempt: 'f'.repeat(32), bytes: 4096, crc: 4_294_967_295 },
      { number: 129, attempt: 'e'.repeat(32), bytes: 1, crc: 0 },
    ],
    ahead: [{ key: 'DEN', position: { sequence: sequenceOf(9), sub: 0 } }],
    watermarks: { event: undefined, arrival: undefined },
    entries: 3,
  },
  items,
};

/** The first unit of a channel, which touched nothing: everything that can be absent is. */
export const emptySegment: Segment = {
  header: {
    channel: 'flight-delays/flights@1735689600000/shardId-000000000001',
    generation: 1,
    number: 1,
    attempt: '00000000000000000000000000000000',
    from: undefined,
    to: { sequence: '1', sub: 0 },
    chain: [],
    ahead: [],
    watermarks: { event: undefined, arrival: undefined },
    entries: 0,
  },
  items: [],
};

export const statePartitionPrefix = 'demo#2#flight-delays#';
