import type { BenchTable } from '../harness/bench.ts';
import type { ContenderId } from './contenders.ts';
import type { KeyChoice } from './event-batches.ts';
import type { PeerFigures, PeerResult } from './measured-peer.ts';

interface Target {
  readonly against: ContenderId;
  readonly what: string;
  /** How many times better ours is. */
  readonly ratio: (ours: PeerFigures, theirs: PeerFigures) => number;
  /** At least, by how keys are drawn; undefined where none was set. */
  readonly targets: Readonly<Record<KeyChoice, number | undefined>>;
}

const powertools = 'powertools' as const;
const noTarget = { uniform: undefined, zipf: undefined };

const eventsPerSecond = (ours: PeerFigures, theirs: PeerFigures): number =>
  ours.eventsPerSecond / theirs.eventsPerSecond;

/** What was set before the first measurement; for state writes alone, and looked at for everything, too. */
const targets: readonly Target[] = [
  {
    against: powertools,
    what: 'requests ÷',
    ratio: (ours, theirs) => theirs.requests / ours.requests,
    targets: { uniform: 100, zipf: 200 },
  },
  {
    against: powertools,
    what: 'write units ÷',
    ratio: (ours, theirs) => theirs.writeUnits / ours.writeUnits,
    targets: { uniform: 4.5, zipf: 9 },
  },
  {
    against: powertools,
    what: 'client CPU ÷',
    ratio: (ours, theirs) => theirs.clientCpuMicros / ours.clientCpuMicros,
    targets: { uniform: 60, zipf: 120 },
  },
  {
    ...{ against: powertools, what: 'events/s ×', ratio: eventsPerSecond },
    targets: { uniform: 9, zipf: 15 },
  },
  {
    ...{ against: 'restate-key', what: 'events/s ×', ratio: eventsPerSecond },
    targets: { uniform: 4, zipf: 4 },
  },
  {
    ...{ against: 'restate-event', what: 'events/s ×', ratio: eventsPerSecond },
    targets: { uniform: 4, zipf: 4 },
  },
  {
    against: 'restate-event',
    what: 'CPU of all own processes ÷',
    ratio: (ours, theirs) => theirs.allCpuMicros / ours.allCpuMicros,
    targets: noTarget,
  },
  { ...{ against: 'update', what: 'events/s ×', ratio: eventsPerSecond }, targets: noTarget },
];

const ours: readonly ContenderId[] = ['holdfast-state', 'holdfast-changelog', 'holdfast-rows'];

/** Ratios of ours to the others, beside what was aimed at. */
export function compareWithTargets(results: readonly PeerResult[]): BenchTable {
  const find = (id: ContenderId, keys: KeyChoice): PeerResult | undefined =>
    results.find(({ contender, shape }) => contender.id === id && shape.keyChoice === keys);
  const keyChoices = [...new Set(results.map(({ shape }) => shape.keyChoice))];
  const rows = keyChoices.flatMap((keys) =>
    targets.flatMap(({ against, what, ratio, targets: aims }) => {
      const theirs = find(against, keys);
      if (theirs === undefined) return [];
      return ours.map((id) => {
        const own = find(id, keys)!;
        const times = ratio(own.figures, theirs.figures);
        const target = aims[keys];
        return {
          keys,
          holdfast: own.contender.what,
          against: theirs.contender.what,
          what,
          ratio: times,
          ...(target === undefined ? {} : { target, isMet: times >= target ? 'yes' : 'NO' }),
        };
      });
    }),
  );
  return {
    title: 'How many times better Holdfast does than the others, beside what was aimed at',
    columns: [
      { field: 'keys', heading: 'keys' },
      { field: 'holdfast', heading: 'Holdfast' },
      { field: 'against', heading: 'against' },
      { field: 'what', heading: 'what' },
      { field: 'ratio', heading: 'ratio', digits: 1 },
      { field: 'target', heading: 'target', digits: 1 },
      { field: 'isMet', heading: 'met' },
    ],
    rows,
  };
}
