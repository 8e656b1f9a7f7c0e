import type { Base, Manifest, StateFile } from '../../shared/core/manifest.ts';
import type { RunEntry, RunFileHeader } from '../../shared/core/run-file.ts';
import { bytesOf, items, segment } from './version-1.ts';

/*
 * What the first run files, manifests and bases say, spelled out. It is never changed: a new format gets new files and
 * values.
 */

const [seattle, zurich, denver] = items;
const { from, to } = segment.header;

const step = { keyHash: '7f'.repeat(16), key: 'SEA.1/ü', time: 1_735_689_599_999, name: 'e:close' };

/** In the order of the file. */
export const runEntries: RunEntry[] = [
  { generation: 2, item: seattle! },
  { generation: 1, item: zurich! },
  {
    generation: 2,
    item: {
      ...denver!,
      position: { ...to, step },
      emissions: bytesOf(0x90),
      spills: [],
      timers: [
        { domain: 'event', time: -1, name: 'close' },
        { domain: 'arrival', time: 1_735_689_660_000, name: 'w:1' },
      ],
    },
  },
];

export const runFileHeader: RunFileHeader = {
  job: 'demo',
  operator: 'flight-delays',
  groups: [3, 127],
  entries: 3,
  keys: 2,
  tombstones: 1,
  last: { keyGroup: 127, key: 'DEN' },
  isLast: true,
};

const file: StateFile = {
  name: 'jobs/demo/compactions/000000000011/000000.run',
  operator: 'flight-delays',
  bytes: 412,
  crc: 4_294_967_295,
  groups: [3, 127],
  keys: 2,
  tombstones: 1,
};

const second: StateFile = {
  name: 'jobs/demo/compactions/000000000011/000001.run',
  operator: 'other',
  bytes: 1,
  crc: 0,
  groups: [0, 0],
  keys: 0,
  tombstones: 1,
};

const stream = { name: 'flights', createdAtMs: 1_735_689_600_000 };

export const manifest: Manifest = {
  job: 'demo',
  kind: 'savepoint',
  generation: 2,
  number: 12,
  label: 'before-2.0',
  note: 'Before "2.0" — Zürich, 50 % of\nall flights',
  maxParallelism: 128,
  operators: [
    {
      id: 'flight-delays',
      states: [
        { name: 'total', kind: 'value', version: 2 },
        { name: 'last', kind: 'list', version: 1 },
        { name: 'seen', kind: 'map', version: 1 },
        { name: 'mean', kind: 'aggregating', version: 3 },
      ],
      sinks: [
        { name: 'alerts', kind: 'append' },
        { name: 'airports', kind: 'upsert' },
      ],
      timeRules: '5000,60000,1',
    },
  ],
  channels: [
    {
      channel: { operator: 'flight-delays', stream, shardId: 'shardId-000000000000' },
      progress: {
        generation: 2,
        version: 140,
        position: { ...to, step },
        attempt: '0123456789abcdef0123456789abcdef',
        head: { number: 131, attempt: '0123456789abcdef0123456789abcdef', bytes: 812, crc: 7 },
        aheadMax: denver!.position,
        isFinished: true,
        range: { from: '0'.repeat(32), to: '7'.padEnd(32, 'f') },
        parentIds: ['shardId-000000000007', 'shardId-000000000008'],
        committedAtMs: 1_735_689_602_001,
        checkedAtMs: 1_735_689_600_123,
        watermarks: { event: -2, arrival: 1_735_689_600_123 },
        floors: [
          {
            range: { from: '0'.repeat(32), to: '3'.padEnd(32, 'f') },
            watermarks: { event: 5, arrival: undefined },
          },
        ],
        firing: step,
        earliest: { event: -1, arrival: 1_735_689_660_000 },
        timeRules: '5000,60000,1',
        fence: 'ab'.repeat(16),
      },
      ahead: [{ key: 'DEN', position: denver!.position }],
      segments: [
        { number: 130, attempt: 'f'.repeat(32), bytes: 4096, crc: 4_294_967_295 },
        { number: 131, attempt: '0123456789abcdef0123456789abcdef', bytes: 812, crc: 7 },
      ],
    },
    {
      channel: { operator: 'flight-delays', stream, shardId: 'shardId-000000000001' },
      progress: {
        generation: 2,
        version: 1,
        position: undefined,
        attempt: '00000000000000000000000000000000',
        head: undefined,
        aheadMax: undefined,
        isFinished: false,
        range: { from: '8'.padEnd(32, '0'), to: 'f'.repeat(32) },
        parentIds: [],
        committedAtMs: 0,
        checkedAtMs: 0,
        watermarks: { event: undefined, arrival: undefined },
        floors: [],
        firing: undefined,
        earliest: { event: undefined, arrival: undefined },
        timeRules: undefined,
        fence: undefined,
      },
      ahead: [],
      segments: [],
    },
    {
      channel: { operator: 'flight-delays', stream, shardId: 'shardId-000000000002' },
      progress: {
        generation: 2,
        version: 9,
        position: from,
        attempt: '1'.repeat(32),
        head: undefined,
        aheadMax: undefined,
        isFinished: false,
        range: { from: '4'.padEnd(32, '0'), to: '5'.padEnd(32, 'f') },
        parentIds: [],
        committedAtMs: 1_735_689_602_001,
        checkedAtMs: 1_735_689_602_000,
        watermarks: { event: undefined, arrival: 1 },
        floors: [],
        firing: 'none',
        earliest: { event: undefined, arrival: 0 },
        timeRules: '',
        fence: undefined,
      },
      ahead: [],
      segments: [],
    },
  ],
  runs: [{ files: [file, second] }, { files: [] }],
  isExact: false,
  tags: { git: '3f1c0de', 'team:name': 'billing', version: '2.0.0' },
  triggeredAtMs: 1_735_689_602_000,
  readAtMs: 1_735_689_602_500,
  writtenAtMs: 1_735_689_603_250,
  newBytes: 4908,
  totalBytes: 5321,
  keysInRuns: 2,
};

export const base: Base = {
  job: 'demo',
  generation: 2,
  runs: [{ files: [file, second] }],
  compacted: [
    { channel: 'flight-delays/flights@1735689600000/shardId-000000000000', number: 129 },
    { channel: 'flight-delays/flights@1735689600000/shardId-000000000001', number: 0 },
  ],
};
