import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  decodeJob,
  decodeProgress,
  encodeJob,
  encodeProgress,
} from '../../../../shared/adapters/dynamodb/control-items.ts';
import { packFloors, unpackFloors } from '../../../../shared/adapters/dynamodb/floor-bytes.ts';
import { tableKey, type Item } from '../../../../shared/adapters/dynamodb/table-keys.ts';
import { endOfFiring } from '../../../../shared/core/position.ts';
import { floorsMax, type WatermarkFloor } from '../../../../shared/core/watermark.ts';
import { makeHold, makeJob, makeProgress } from '../../../contract/control-store.contract.ts';

const key = tableKey('p', 'progress');
const step = { keyHash: 'a'.repeat(32), key: 'k', time: 5, name: 'e:x' };

function bytesOf(item: Item): number {
  return Object.entries(item).reduce(
    (sum, [name, { S, N, B }]) => sum + name.length + (S ?? N ?? B ?? '').length,
    0,
  );
}

// A contract: conditions name these attributes, and items of released versions have them.
describe('job items', () => {
  it('hold the hold as a map, whose id conditions compare, and none where there is none', () => {
    const hold = makeHold('h1', { sinceMs: 5 });
    expect(encodeJob(key, makeJob({ hold }))['hold']).toEqual({
      M: {
        id: { S: 'h1' },
        kind: { S: 'restore' },
        owner: { S: 'rollback' },
        sinceMs: { N: '5' },
        isFlipped: { BOOL: false },
      },
    });
    const flipped = makeJob({ hold: { ...hold, isFlipped: true, undo: 'u' } });
    expect(encodeJob(key, flipped)['hold']?.M).toMatchObject({
      isFlipped: { BOOL: true },
      undo: { S: 'u' },
    });
    expect(decodeJob(encodeJob(key, flipped))).toEqual(flipped);
    expect(encodeJob(key, makeJob())).not.toHaveProperty('hold');
  });

  it('have no timeline where they come from before there were restores', () => {
    const job = makeJob();
    const { timeline, ...old } = encodeJob(key, job);
    expect(timeline).toEqual({ L: [] });
    expect(decodeJob(old)).toEqual(job);
  });
});

// A contract: items of released versions have these attributes.
describe('progress items', () => {
  it('hold times under two letters each', () => {
    const watermarks = { event: -1, arrival: 1_735_689_600_123 };
    const earliest = { event: 0, arrival: 7 };
    expect(encodeProgress(key, makeProgress({ watermarks, earliest }))).toMatchObject({
      we: { N: '-1' },
      wa: { N: '1735689600123' },
      ee: { N: '0' },
      ea: { N: '7' },
    });
  });

  it('hold the step of a firing as MessagePack, and none of it as text', () => {
    const firing = encodeProgress(key, makeProgress({ firing: step }))['firing'];
    const hash = '61'.repeat(32);
    expect(Buffer.from(firing!.B!).toString('hex')).toBe(`94d920${hash}a16b05a3653a78`);
    expect(encodeProgress(key, makeProgress({ firing: 'none' }))['firing']).toEqual({ S: 'none' });
  });

  it.each([
    step,
    { ...step, key: 'none' },
    { ...step, key: '', name: '' },
    endOfFiring,
    'none',
    undefined,
  ] as const)('tell a firing at %o from every other', (firing) => {
    const decoded = decodeProgress(encodeProgress(key, makeProgress({ firing })));
    expect(decoded.firing).toEqual(firing);
  });

  it('say nothing of time where they come from before there was event time', () => {
    const full = makeProgress({
      watermarks: { event: 1, arrival: 2 },
      earliest: { event: 3, arrival: 4 },
      floors: [{ range: makeProgress().range, watermarks: { event: 5, arrival: 6 } }],
      firing: 'none',
      timeRules: 'event time 1',
    });
    const { we, wa, ee, ea, floors, firing, timeRules, ...old } = encodeProgress(key, full);
    for (const attribute of [we, wa, ee, ea, floors, firing, timeRules]) {
      expect(attribute).toBeDefined();
    }
    expect(decodeProgress(old)).toEqual(makeProgress());
    expect(encodeProgress(key, makeProgress())).toEqual(old);
  });

  it('stay within one write unit while a channel has a few floors', () => {
    const floor = (digit: string): WatermarkFloor => ({
      range: { from: digit.padEnd(32, '0'), to: digit.padEnd(32, 'f') },
      watermarks: { event: 1_735_689_600_000, arrival: 1_735_689_600_123 },
    });
    const progress = makeProgress({
      position: { sequence: '4'.repeat(56), sub: 0 },
      aheadMax: { sequence: '4'.repeat(56), sub: 0 },
      watermarks: { event: 1_735_689_600_000, arrival: 1_735_689_600_123 },
      earliest: { event: 1_735_689_600_000, arrival: 1_735_689_600_123 },
      firing: { ...step, key: 'k'.repeat(36), time: 1_735_689_600_000 },
      floors: ['0', '4', '8', 'c'].map(floor),
    });
    const places = tableKey('p'.repeat(150), 'progress');
    expect(bytesOf(encodeProgress(places, progress))).toBeLessThan(1_000);
  });
});

describe('floor bytes', () => {
  const digits = fc.array(fc.constantFrom(...Array.from('000123456789abcdefff')), {
    minLength: 32,
    maxLength: 32,
  });
  // Hashes as shards have them end with many zeros or many digits f.
  const hash = fc
    .tuple(digits, fc.nat({ max: 32 }), fc.constantFrom('0', 'f'))
    .map(([text, length, digit]) => text.join('').slice(0, length).padEnd(32, digit));
  const time = fc.option(fc.integer({ min: -4.32e15, max: 4.32e15 }), { nil: undefined });
  const floor = fc.record({
    range: fc.record({ from: hash, to: hash }),
    watermarks: fc.record({ event: time, arrival: time }),
  });

  it('come back as they were', () => {
    fc.assert(
      fc.property(fc.array(floor, { maxLength: 8 }), (floors) => {
        expect(unpackFloors(packFloors(floors))).toEqual(floors);
      }),
    );
  });

  it('are written in the same way for ever', () => {
    const floors = [
      {
        range: { from: `08${'0'.repeat(30)}`, to: `0${'f'.repeat(31)}` },
        watermarks: { event: 1, arrival: undefined },
      },
    ];
    // [[bytes 08, bytes 0f, 1, nil]]
    expect(Buffer.from(packFloors(floors)).toString('hex')).toBe('9194c40108c4010f01c0');
  });

  it('take 56 bytes for a floor at the most', () => {
    const floors = Array.from({ length: floorsMax }, () => ({
      range: { from: '1'.repeat(32), to: '2'.repeat(32) },
      watermarks: { event: 1_735_689_600_000, arrival: 1_735_689_600_123 },
    }));
    expect(packFloors(floors).length).toBeLessThanOrEqual(56 * floorsMax);
  });
});
