import { median } from '../harness/statistics.ts';
import type { Contender } from './contenders.ts';
import type { BatchesShape } from './event-batches.ts';
import { sumOf, sumRequests, sumTables, type EmulatorUsage } from '../embedded/emulators.ts';

/** What one run of a contender took, without its first batch. */
export interface MeasuredPeer {
  readonly events: number;
  readonly seconds: number;
  /** Of the process that takes the events, µs. */
  readonly clientCpuMicros: number;
  /** Of servers that take part beside DynamoDB and S3, µs. */
  readonly serverCpuMicros?: number;
  /** Requests to such servers. */
  readonly ownRequests: number;
  readonly usage: EmulatorUsage;
  /** How often the events of a batch count that was delivered twice. */
  readonly repeated: 'once' | 'twice';
  /** The same for a batch that is made of halves of two that were delivered. */
  readonly recut: 'once' | 'twice';
}

/** Medians of several runs. */
export interface PeerFigures {
  readonly eventsPerSecond: number;
  readonly clientCpuMicros: number;
  /** Client and servers of its own, µs an event; DynamoDB and S3 are AWS's and not in it. */
  readonly allCpuMicros: number;
  /** For each 1,000 events, to whatever server. */
  readonly requests: number;
  readonly writeUnits: number;
  readonly readUnits: number;
  readonly s3Requests: number;
  readonly repeated: string;
  readonly recut: string;
}

/** One contender with one choice of keys. */
export interface PeerResult {
  readonly contender: Contender;
  readonly shape: BatchesShape;
  readonly figures: PeerFigures;
}

export function summarizePeer(runs: readonly MeasuredPeer[]): PeerFigures {
  const of = (value: (run: MeasuredPeer) => number): number => median(runs.map(value));
  const perThousand = (value: (run: MeasuredPeer) => number): number =>
    of((run) => (value(run) * 1_000) / run.events);
  return {
    eventsPerSecond: of(({ events, seconds }) => events / seconds),
    clientCpuMicros: of(({ events, clientCpuMicros }) => clientCpuMicros / events),
    allCpuMicros: of(
      ({ events, clientCpuMicros, serverCpuMicros = 0 }) =>
        (clientCpuMicros + serverCpuMicros) / events,
    ),
    requests: perThousand(({ usage, ownRequests }) => sumRequests(usage) + ownRequests),
    writeUnits: perThousand(({ usage }) => sumTables(usage).writeUnits),
    readUnits: perThousand(({ usage }) => sumTables(usage).readUnits),
    s3Requests: perThousand(({ usage }) => sumOf(usage.s3)),
    repeated: listOnce(runs.map(({ repeated }) => repeated)),
    recut: listOnce(runs.map(({ recut }) => recut)),
  };
}

/** Each of some words once. */
export function listOnce(words: readonly string[]): string {
  return [...new Set(words)].join(' or ');
}
