import fc from 'fast-check';
import type { FiringStep, Position } from '../../shared/core/position.ts';
import type { Progress, SegmentReference } from '../../shared/core/progress.ts';
import type { Watermarks } from '../../shared/core/watermark.ts';

/** Any text that Kinesis takes as a partition key, surrogate pairs included. */
export const anyKey = fc.string({ unit: 'grapheme', maxLength: 30 });

/** A time in ms that records or timers can have. */
export const anyTime = fc.integer({ min: -(2 ** 52), max: 2 ** 52 });

/** A time in ms of some clock. */
export const anyWallClock = fc.integer({ min: 0, max: 8.64e15 });

const hash = fc.stringMatching(/^[0-9a-f]{32}$/);
const range = fc.record({ from: hash, to: hash });

export const anyStep: fc.Arbitrary<FiringStep> = fc.record({
  keyHash: fc.stringMatching(/^[0-9a-g]{32}$/),
  key: anyKey,
  time: anyTime,
  name: fc.stringMatching(/^([ea]:[A-Za-z0-9:_-]{1,20})?$/),
});

const record = fc.record({
  sequence: fc.bigInt({ min: 0n, max: 10n ** 56n - 1n }).map(String),
  sub: fc.nat({ max: 9_999_999 }),
});

/** A record, or a timer that fires behind it. */
export const anyPosition: fc.Arbitrary<Position> = fc.oneof(
  record,
  fc.tuple(record, anyStep).map(([place, step]) => ({ ...place, step })),
);

export const anyReference: fc.Arbitrary<SegmentReference> = fc.record({
  number: fc.nat(),
  attempt: fc.stringMatching(/^[0-9a-f]{32}$/),
  bytes: fc.nat(),
  crc: fc.nat({ max: 2 ** 32 - 1 }),
});

const watermarks: fc.Arbitrary<Watermarks> = fc.record({
  event: maybe(anyTime),
  arrival: maybe(anyTime),
});

export const anyProgress: fc.Arbitrary<Progress> = fc.record({
  generation: fc.nat(),
  version: fc.nat(),
  position: maybe(anyPosition),
  attempt: fc.string(),
  head: maybe(anyReference),
  aheadMax: maybe(anyPosition),
  isFinished: fc.boolean(),
  range,
  parentIds: fc.array(fc.string(), { maxLength: 2 }),
  committedAtMs: anyWallClock,
  checkedAtMs: anyWallClock,
  watermarks,
  floors: fc.array(fc.record({ range, watermarks }), { maxLength: 3 }),
  firing: fc.oneof(fc.constant('none' as const), fc.constant(undefined), anyStep),
  earliest: watermarks,
  timeRules: maybe(fc.string()),
  fence: maybe(fc.string()),
});

function maybe<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(value, { nil: undefined });
}
