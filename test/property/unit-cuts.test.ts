import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutUnit } from '../../shared/runtime/advance-channel.ts';
import type { InputRecord } from '../../shared/runtime/decode-records.ts';

/** Kinesis records as the bytes of their sub-records: one for most, several for an aggregated one. */
const kinesisRecords = fc.array(
  fc.oneof(
    fc.tuple(fc.nat({ max: 100 })),
    fc.array(fc.nat({ max: 100 }), { minLength: 1, maxLength: 6 }),
  ),
  { minLength: 1, maxLength: 30 },
);

const toInputs = (records: readonly (readonly number[])[]): InputRecord[] =>
  records.flatMap((sizes, sequence) =>
    sizes.map((size, sub) => ({
      position: { sequence: String(sequence + 1), sub },
      key: 'k',
      place: { key: 'k', hash: '', keyGroup: 0, isOwned: true },
      partitionKey: 'k',
      arrivalMs: 0,
      data: new Uint8Array(size),
      event: undefined,
      verdict: undefined,
      eventWatermark: undefined,
      isHeartbeat: false,
      isEndOfRecord: sub === sizes.length - 1,
    })),
  );

const span = fc.integer({ min: 1, max: 40 });
const bytesMax = fc.integer({ min: 0, max: 1500 });

const bytesOf = (inputs: readonly InputRecord[]): number =>
  inputs.reduce((sum, { data }) => sum + data.length, 0);

describe('a unit', () => {
  it('is a whole number of Kinesis records from the start, at least one', () => {
    fc.assert(
      fc.property(kinesisRecords, span, bytesMax, (records, spanMax, limit) => {
        const inputs = toInputs(records);
        const unit = cutUnit(inputs, spanMax, limit);
        expect(unit.length).toBeGreaterThan(0);
        expect(unit).toEqual(inputs.slice(0, unit.length));
        expect(unit.at(-1)!.isEndOfRecord).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it('is within its bounds of records and bytes, unless its first record alone is not', () => {
    fc.assert(
      fc.property(kinesisRecords, span, bytesMax, (records, spanMax, limit) => {
        const unit = cutUnit(toInputs(records), spanMax, limit);
        const isFirstAlone = unit.length === records[0]!.length;
        if (isFirstAlone) return;
        expect(unit.length).toBeLessThanOrEqual(spanMax);
        expect(bytesOf(unit)).toBeLessThanOrEqual(limit);
      }),
      { numRuns: 1000 },
    );
  });

  it('is as long as its bounds allow: the next Kinesis record would break one of them', () => {
    fc.assert(
      fc.property(kinesisRecords, span, bytesMax, (records, spanMax, limit) => {
        const inputs = toInputs(records);
        const unit = cutUnit(inputs, spanMax, limit);
        if (unit.length === inputs.length) return;
        const end = inputs.findIndex(({ isEndOfRecord }, at) => at >= unit.length && isEndOfRecord);
        const longer = inputs.slice(0, end + 1);
        expect(longer.length > spanMax || bytesOf(longer) > limit).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it('after unit covers every record once, in order', () => {
    fc.assert(
      fc.property(kinesisRecords, span, bytesMax, (records, spanMax, limit) => {
        const inputs = toInputs(records);
        const covered: InputRecord[] = [];
        let rest: readonly InputRecord[] = inputs;
        while (rest.length > 0) {
          const unit = cutUnit(rest, spanMax, limit);
          covered.push(...unit);
          rest = rest.slice(unit.length);
        }
        expect(covered).toEqual(inputs);
      }),
    );
  });
});
