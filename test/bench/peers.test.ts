import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { assertTotals, findDifferences } from '../../bench/peers/compare-totals.ts';
import { compareWithTargets } from '../../bench/peers/compare-peers.ts';
import { contenders } from '../../bench/peers/contenders.ts';
import { createEventBatches, keyChoices } from '../../bench/peers/event-batches.ts';
import type { PeerFigures, PeerResult } from '../../bench/peers/measured-peer.ts';
import { findMissingPackages } from '../../bench/peers/peer-packages.ts';
import { decodeData, type KinesisEvent } from '../../bench/peers/peer.ts';
import type { CountedEvent } from '../../bench/embedded/counting-operator.ts';

const shape = { keys: 50, batches: 3, batchEvents: 40 };

const eventsOf = (batch: string) =>
  (JSON.parse(batch) as KinesisEvent).Records.map((record) => decodeData<CountedEvent>(record));

describe.each(keyChoices)('batches of %s keys', (keyChoice) => {
  const made = createEventBatches({ keyChoice, ...shape }, 2);

  it('are the same each time, of events of 131 bytes', () => {
    expect(createEventBatches({ keyChoice, ...shape }, 2)).toMatchObject({
      warmUps: made.warmUps,
      batches: made.batches,
    });
    const sizes = made.batches.flatMap(eventsOf).map((event) => JSON.stringify(event).length);
    expect(new Set(sizes)).toEqual(new Set([131]));
  });

  it('have every key first, and then as many events as are asked for', () => {
    const [first, ...warmUps] = made.warmUps.map(eventsOf);
    expect(new Set(first!.map(({ key }) => key)).size).toBe(shape.keys);
    expect(warmUps.map((events) => events.length)).toEqual([40, 40]);
    expect(made.batches.map((batch) => eventsOf(batch).length)).toEqual([40, 40, 40]);
    expect(made.measuredEvents).toBe(120);
  });

  it('are measured with the same keys and amounts, whatever comes before them', () => {
    const drawn = ({ batches }: typeof made) =>
      batches.flatMap(eventsOf).map(({ key, amount }) => [key, amount]);
    expect(drawn(createEventBatches({ keyChoice, ...shape }, 0))).toEqual(drawn(made));
  });

  it('come with the totals of their events', () => {
    const events = [...made.warmUps, ...made.batches].flatMap(eventsOf);
    const sum = (values: Iterable<number>) => [...values].reduce((a, b) => a + b, 0);
    expect(sum([...made.totals.values()].map((one) => one.count))).toBe(events.length);
    expect(sum([...made.totals.values()].map((one) => one.sum))).toBe(
      sum(events.map(({ amount }) => amount)),
    );
  });
});

it('keys of a Zipf choice come less often, the higher they are', () => {
  const zipf = { keyChoice: 'zipf', keys: 100, batches: 1, batchEvents: 5_000 } as const;
  const { totals } = createEventBatches(zipf, 0);
  const [first, tenth, last] = [0, 9, 99].map((at) => totals.get(`key-${at}`)!.count);
  expect(first).toBeGreaterThan(3 * tenth!);
  expect(tenth).toBeGreaterThan(2 * last!);
});

describe('totals', () => {
  const expected = new Map([
    ['a', { count: 2, sum: 5 }],
    ['b', { count: 1, sum: 7 }],
  ]);

  it('are equal by count and sum of every key', () => {
    expect(findDifferences(expected, new Map([...expected].reverse()))).toEqual([]);
  });

  it.each([
    ['counted twice', { count: 4, sum: 5 }, 'a: 4 with 5, expected 2 with 5'],
    ['added up wrong', { count: 2, sum: 6 }, 'a: 2 with 6, expected 2 with 5'],
    ['missing', undefined, 'a: nothing, expected 2 with 5'],
  ])('that are %s stop the bench', (_, there, said) => {
    const actual = new Map(expected);
    if (there === undefined) actual.delete('a');
    else actual.set('a', there);
    expect(() => assertTotals('one', expected, actual)).toThrow(said);
  });

  it('of a key that there is not stop it, too', () => {
    const actual = new Map([...expected, ['c', { count: 1, sum: 1 }]]);
    expect(() => assertTotals('one', expected, actual)).toThrow('c: 1 with 1, expected nothing');
  });
});

describe('ratios', () => {
  const figures: PeerFigures = {
    ...{ eventsPerSecond: 100, clientCpuMicros: 1_000, allCpuMicros: 2_000, requests: 3_000 },
    ...{ writeUnits: 3_000, readUnits: 0, s3Requests: 0, repeated: 'once', recut: 'once' },
  };
  const better: PeerFigures = {
    ...{ ...figures, eventsPerSecond: 950, clientCpuMicros: 10, allCpuMicros: 10 },
    ...{ requests: 40, writeUnits: 600 },
  };
  const results: readonly PeerResult[] = contenders
    .filter(({ id }) => id !== 'restate-event')
    .map((contender) => ({
      contender,
      shape: { keyChoice: 'uniform', keys: 1_000, batches: 5, batchEvents: 1_000 },
      figures: contender.id.startsWith('holdfast') ? better : figures,
    }));
  const { rows } = compareWithTargets(results);
  const find = (against: string, what: string) =>
    rows.find((row) => (row['against'] as string).includes(against) && row['what'] === what);

  it('say how many times better, and whether that was aimed at', () => {
    expect(find('Powertools', 'requests ÷')).toMatchObject({ ratio: 75, target: 100, isMet: 'NO' });
    expect(find('Powertools', 'write units ÷')).toMatchObject({ ratio: 5, isMet: 'yes' });
    expect(find('Powertools', 'client CPU ÷')).toMatchObject({ ratio: 100, isMet: 'yes' });
    expect(find('Powertools', 'events/s ×')).toMatchObject({ ratio: 9.5, target: 9, isMet: 'yes' });
    expect(find('each key', 'events/s ×')).toMatchObject({ ratio: 9.5, target: 4, isMet: 'yes' });
  });

  it('leave out who was not measured', () => {
    expect(find('(c) Restate, a call for each event', 'events/s ×')).toBeUndefined();
  });
});

it('packages of the peers that are not installed are known by name', () => {
  expect(findMissingPackages(tmpdir())).toEqual(
    expect.arrayContaining(['@aws-lambda-powertools/batch', '@restatedev/restate-server']),
  );
});
