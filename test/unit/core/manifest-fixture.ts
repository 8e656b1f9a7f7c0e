import type { Base, ChannelCut, Manifest, StateFile } from '../../../shared/core/manifest.ts';
import type { Progress } from '../../../shared/core/progress.ts';
import { positionAt } from './segment-fixture.ts';

/** What a channel has after a few units; everything that can be absent is. */
export function makeProgress(overrides: Partial<Progress> = {}): Progress {
  return {
    generation: 1,
    version: 4,
    position: undefined,
    attempt: 'a'.repeat(32),
    head: undefined,
    aheadMax: undefined,
    isFinished: false,
    range: { from: '0'.repeat(32), to: 'f'.repeat(32) },
    parentIds: [],
    committedAtMs: 1_735_689_600_000,
    checkedAtMs: 0,
    watermarks: { event: undefined, arrival: undefined },
    floors: [],
    firing: undefined,
    earliest: { event: undefined, arrival: undefined },
    timeRules: undefined,
    fence: undefined,
    ...overrides,
  };
}

/** Everything that can be there is. */
export const fullProgress = makeProgress({
  position: positionAt(5),
  head: { number: 3, attempt: 'a'.repeat(32), bytes: 900, crc: 4_000_000_000 },
  aheadMax: positionAt(8),
  isFinished: true,
  parentIds: ['shardId-000000000001', 'shardId-000000000002'],
  checkedAtMs: 1_735_689_600_123,
  watermarks: { event: -5, arrival: 1_735_689_600_123 },
  floors: [
    {
      range: { from: '0'.repeat(32), to: '7'.padEnd(32, 'f') },
      watermarks: { event: 7, arrival: undefined },
    },
  ],
  firing: { keyHash: 'f'.repeat(32), key: 'a.b/ä', time: -7, name: 'e:close' },
  earliest: { event: 0, arrival: undefined },
  timeRules: 'v1',
  fence: 'hold-1',
});

export function makeCut(overrides: Partial<ChannelCut> = {}): ChannelCut {
  return {
    channel: {
      operator: 'counts',
      stream: { name: 'events', createdAtMs: 1_735_689_600_000 },
      shardId: 'shardId-000000000000',
    },
    progress: makeProgress(),
    ahead: [],
    segments: [],
    ...overrides,
  };
}

export function makeFile(overrides: Partial<StateFile> = {}): StateFile {
  return {
    name: 'jobs/demo/compactions/000000000002/000000.run',
    operator: 'counts',
    bytes: 4096,
    crc: 4_294_967_295,
    groups: [0, 127],
    keys: 12,
    tombstones: 3,
    ...overrides,
  };
}

export function makeManifest(overrides: Partial<Manifest> = {}): Manifest {
  return {
    job: 'demo',
    kind: 'checkpoint',
    generation: 1,
    number: 7,
    label: '',
    note: '',
    maxParallelism: 128,
    operators: [
      {
        id: 'counts',
        states: [{ name: 'total', kind: 'value', version: 1 }],
        sinks: [{ name: 'totals', kind: 'upsert' }],
        timeRules: 'v1',
      },
    ],
    channels: [
      makeCut(),
      makeCut({
        progress: fullProgress,
        ahead: [{ key: 'ahead', position: positionAt(8) }],
        segments: [
          { number: 2, attempt: 'b'.repeat(32), bytes: 800, crc: 0 },
          { number: 3, attempt: 'a'.repeat(32), bytes: 900, crc: 4_000_000_000 },
        ],
      }),
    ],
    runs: [{ files: [makeFile(), makeFile({ groups: [5, 5] })] }, { files: [] }],
    isExact: false,
    tags: { git: 'ca15fc0', 'team:name': 'billing' },
    triggeredAtMs: 1_735_689_600_000,
    readAtMs: 1_735_689_600_500,
    writtenAtMs: 1_735_689_601_000,
    newBytes: 900,
    totalBytes: 8192,
    keysInRuns: 24,
    ...overrides,
  };
}

export function makeBase(overrides: Partial<Base> = {}): Base {
  return {
    job: 'demo',
    generation: 1,
    runs: [{ files: [makeFile()] }],
    compacted: [{ channel: 'counts/events@1735689600000/shardId-000000000000', number: 3 }],
    ...overrides,
  };
}
