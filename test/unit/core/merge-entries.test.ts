import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foreignKeyOf } from '../../../shared/core/channel.ts';
import { packEmissions, unpackEmissions, type Emission } from '../../../shared/core/emission.ts';
import { mergeEntries, type MergeRule } from '../../../shared/core/merge-entries.ts';
import type { RunEntry } from '../../../shared/core/run-file.ts';
import type { StoredItem } from '../../../shared/core/stored-item.ts';
import { makeItem, positionAt } from './segment-fixture.ts';

const emissionAt = (record: number, overrides: Partial<Emission> = {}): Emission => ({
  position: positionAt(record),
  index: 0,
  sink: 'entries',
  row: '',
  value: { record },
  ...overrides,
});

const upsertAt = (record: number, row = '-', value: unknown = { record }): Emission =>
  emissionAt(record, { sink: 'totals', row, value });

const entry = (
  record: number,
  emissions: readonly Emission[] = [],
  overrides: Partial<StoredItem> = {},
  generation = 1,
): RunEntry => ({
  generation,
  item: makeItem({
    position: positionAt(record),
    states: new Uint8Array([record]),
    emissions: emissions.length === 0 ? undefined : packEmissions(emissions),
    ...overrides,
  }),
});

const cutAt = (record: number, isExact = false): MergeRule => ({
  cutOf: () => ({ position: positionAt(record), isExact }),
  upserts: new Set(['totals']),
  dropsUpTo: () => undefined,
});

const dropping = (record: number, cut = record): MergeRule => ({
  ...cutAt(cut),
  dropsUpTo: () => positionAt(record),
});

const recordsOf = (merged: RunEntry | undefined): unknown[] =>
  merged?.item.emissions === undefined
    ? []
    : unpackEmissions(merged.item.emissions).map(({ sink, row, value }) => [sink, row, value]);

describe('the entries of a key', () => {
  it('are merged into the one with the highest position, whatever the versions say', () => {
    const entries = [entry(3, [], { version: 900 }), entry(7, [], { version: 1 }), entry(5)];
    const merged = mergeEntries(entries, cutAt(9));
    expect(merged!.item).toMatchObject({ version: 1, position: positionAt(7) });
  });

  it('of a higher generation win over a higher position', () => {
    const merged = mergeEntries([entry(9), entry(4, [], {}, 2)], cutAt(9));
    expect(merged).toMatchObject({ generation: 2, item: { position: positionAt(4) } });
  });

  it('keep what lies past the cut, from the entry that counts, and nothing else before it', () => {
    const merged = mergeEntries(
      [entry(5, [emissionAt(4), emissionAt(5)]), entry(8, [emissionAt(5), emissionAt(8)])],
      cutAt(5),
    );
    expect(recordsOf(merged)).toEqual([['entries', '', { record: 8 }]]);
  });

  it('keep nothing as pending at an exact cut', () => {
    expect(recordsOf(mergeEntries([entry(8, [emissionAt(8)])], cutAt(5, true)))).toEqual([]);
  });

  it('keep of each view row the last output up to the cut, whichever entry has it, and removals too', () => {
    const merged = mergeEntries(
      [
        entry(9),
        entry(4, [upsertAt(2, 'a'), upsertAt(4, 'b')]),
        entry(6, [upsertAt(5, 'a', null), upsertAt(6, 'c')]),
      ],
      cutAt(9),
    );
    expect(recordsOf(merged)).toEqual([
      ['totals', 'b', { record: 4 }],
      ['totals', 'a', null],
      ['totals', 'c', { record: 6 }],
    ]);
  });

  it('keep the row before the cut beside the pending one behind it', () => {
    const merged = mergeEntries([entry(3, [upsertAt(3)]), entry(8, [upsertAt(8)])], cutAt(5));
    expect(recordsOf(merged)).toEqual([
      ['totals', '-', { record: 3 }],
      ['totals', '-', { record: 8 }],
    ]);
  });

  it('of one position give their emissions together, each once', () => {
    const all = [emissionAt(6), emissionAt(8)];
    const merged = mergeEntries([entry(8), entry(8, all), entry(8, all.slice(1))], cutAt(5));
    expect(recordsOf(merged)).toEqual([
      ['entries', '', { record: 6 }],
      ['entries', '', { record: 8 }],
    ]);
  });

  it('give the same, merged in one step or in several, in any order', () => {
    const some = fc.array(
      fc.record({
        record: fc.integer({ min: 1, max: 12 }),
        generation: fc.constant(1),
        emitted: fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.boolean()), { maxLength: 3 }),
      }),
      { minLength: 2, maxLength: 6 },
    );
    fc.assert(
      fc.property(some, fc.nat({ max: 12 }), fc.nat(), (given, cut, split) => {
        // Items of one key and position are the same item.
        const byRecord = new Map(given.map((one) => [one.record, one]));
        const entries = [...byRecord.values()].map(({ record, emitted }) =>
          entry(
            record,
            emitted.map(([row, isRemoved], index) => ({
              ...upsertAt(record, row, isRemoved ? null : { record }),
              index,
            })),
          ),
        );
        const rule = cutAt(cut);
        const at = 1 + (split % entries.length);
        const first = mergeEntries(entries.slice(0, at), rule)!;
        const steps = mergeEntries([...entries.slice(at), first], rule);
        expect(steps).toEqual(mergeEntries(entries, rule));
      }),
    );
  });
});

describe('a tombstone', () => {
  const tombstone = (
    record: number,
    emissions: readonly Emission[] = [],
    timers: StoredItem['timers'] = [],
  ) => entry(record, emissions, { states: undefined, timers });

  it('is dropped where the cuts are at or past it', () => {
    expect(mergeEntries([tombstone(5)], dropping(5))).toBeUndefined();
    expect(mergeEntries([entry(4), tombstone(5)], dropping(5))).toBeUndefined();
  });

  it('stays while a cut is not past it', () => {
    expect(mergeEntries([tombstone(5)], dropping(4, 9))).toBeDefined();
  });

  it('stays where nothing may be dropped', () => {
    expect(mergeEntries([tombstone(5)], cutAt(9))).toBeDefined();
  });

  it('stays while a timer of its key is pending', () => {
    const timer = { domain: 'event' as const, name: 'later', time: 9 };
    expect(mergeEntries([tombstone(5, [], [timer])], dropping(9))).toBeDefined();
  });

  it('stays while a view row stands that its key has written last, and goes with a removed one', () => {
    expect(mergeEntries([tombstone(5, [upsertAt(3)])], dropping(9))).toBeDefined();
    expect(mergeEntries([tombstone(5, [upsertAt(3, '-', null)])], dropping(9))).toBeUndefined();
  });

  it('stays where it is the verdicts of a channel', () => {
    const { key } = foreignKeyOf('shardId-0', { from: '0'.repeat(32), to: 'f'.repeat(32) });
    expect(mergeEntries([entry(5, [], { key, states: undefined })], dropping(9))).toBeDefined();
  });

  it('does not drop a key that lives on', () => {
    expect(mergeEntries([tombstone(5), entry(6)], dropping(9))).toBeDefined();
  });
});
