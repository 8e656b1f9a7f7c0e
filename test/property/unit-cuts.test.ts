import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutUnit, type UnitSize } from '../../shared/runtime/advance-channel.ts';
import type { InputRecord } from '../../shared/runtime/decode-records.ts';

interface Part {
  readonly bytes: number;
  readonly key: string;
}

const part: fc.Arbitrary<Part> = fc.record({
  bytes: fc.nat({ max: 100 }),
  key: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
});

/** Kinesis records as their sub-records: one for most, several for an aggregated one. */
const kinesisRecords = fc.array(
  fc.oneof(fc.tuple(part), fc.array(part, { minLength: 1, maxLength: 6 })),
  { minLength: 1, maxLength: 30 },
);

const toInputs = (records: readonly (readonly Part[])[]): InputRecord[] =>
  records.flatMap((parts, sequence) =>
    parts.map(({ bytes, key }, sub) => ({
      position: { sequence: String(sequence + 1), sub },
      key,
      place: { key, hash: '', keyGroup: 0, isOwned: true },
      partitionKey: key,
      arrivalMs: 0,
      data: new Uint8Array(bytes),
      event: undefined,
      verdict: undefined,
      eventWatermark: undefined,
      isHeartbeat: false,
      isEndOfRecord: sub === parts.length - 1,
    })),
  );

const size: fc.Arbitrary<UnitSize> = fc.record({
  records: fc.integer({ min: 1, max: 40 }),
  bytes: fc.integer({ min: 0, max: 1500 }),
  keys: fc.integer({ min: 1, max: 7 }),
});

const fits = (inputs: readonly InputRecord[], most: UnitSize): boolean =>
  inputs.length <= most.records &&
  inputs.reduce((sum, { data }) => sum + data.length, 0) <= most.bytes &&
  new Set(inputs.map(({ key }) => key)).size <= most.keys;

describe('a unit', () => {
  it('is a whole number of Kinesis records from the start, at least one', () => {
    fc.assert(
      fc.property(kinesisRecords, size, (records, most) => {
        const inputs = toInputs(records);
        const unit = cutUnit(inputs, most);
        expect(unit.length).toBeGreaterThan(0);
        expect(unit).toEqual(inputs.slice(0, unit.length));
        expect(unit.at(-1)!.isEndOfRecord).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it('is within its bounds of records, bytes and keys, unless its first record alone is not', () => {
    fc.assert(
      fc.property(kinesisRecords, size, (records, most) => {
        const unit = cutUnit(toInputs(records), most);
        const isFirstAlone = unit.length === records[0]!.length;
        if (isFirstAlone) return;
        expect(fits(unit, most)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it('is as long as its bounds allow: the next Kinesis record would break one of them', () => {
    fc.assert(
      fc.property(kinesisRecords, size, (records, most) => {
        const inputs = toInputs(records);
        const unit = cutUnit(inputs, most);
        if (unit.length === inputs.length) return;
        const end = inputs.findIndex(({ isEndOfRecord }, at) => at >= unit.length && isEndOfRecord);
        expect(fits(inputs.slice(0, end + 1), most)).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  it('after unit covers every record once, in order', () => {
    fc.assert(
      fc.property(kinesisRecords, size, (records, most) => {
        const inputs = toInputs(records);
        const covered: InputRecord[] = [];
        let rest: readonly InputRecord[] = inputs;
        while (rest.length > 0) {
          const unit = cutUnit(rest, most);
          covered.push(...unit);
          rest = rest.slice(unit.length);
        }
        expect(covered).toEqual(inputs);
      }),
    );
  });
});
