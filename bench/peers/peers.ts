import path from 'node:path';
import { startEmulators } from '../embedded/emulators.ts';
import type { Bench, BenchContext, BenchTable } from '../harness/bench.ts';
import { takeTurns } from '../harness/statistics.ts';
import { compareWithTargets } from './compare-peers.ts';
import { contenders, type Contender } from './contenders.ts';
import { keyChoices, type BatchesShape } from './event-batches.ts';
import { listOnce, summarizePeer, type MeasuredPeer, type PeerResult } from './measured-peer.ts';
import { findMissingPackages, installCommand } from './peer-packages.ts';
import type { PeerOrder } from './peer-process.ts';
import { startRestate } from './restate-server.ts';

interface Plan {
  readonly shapes: readonly BatchesShape[];
  readonly rounds: number;
}

const plan: Plan = {
  shapes: keyChoices.map((keyChoice) => ({
    ...{ keyChoice, keys: 1_000, batches: 5, batchEvents: 1_000 },
  })),
  rounds: 5,
};

const quickPlan: Plan = {
  shapes: keyChoices.map((keyChoice) => ({
    ...{ keyChoice, keys: 100, batches: 2, batchEvents: 100 },
  })),
  rounds: 1,
};

const processModule = path.join(import.meta.dirname, 'peer-process.ts');

/**
 * Holdfast and what people use today, over the same events and the same DynamoDB, each run in a process of its own. Their totals are
 * compared with a plain computation: nobody is measured while doing anything else.
 */
export const peers: Bench = {
  name: 'peers',
  what: `Holdfast, Powertools, plain updates and Restate over the same events (needs ${installCommand})`,

  async run(context) {
    const { shapes, rounds } = context.isQuick ? quickPlan : plan;
    const chosen = chooseContenders(context);
    const emulators = await startEmulators(context.scratch);
    const hasRestate = chosen.some(({ id }) => id.startsWith('restate'));
    const restate = hasRestate ? await startRestate(context.scratch) : undefined;
    const variants = shapes.flatMap((shape) => chosen.map((contender) => ({ contender, shape })));
    let runs = 0;
    const measured = await takeTurns(rounds, variants, async ({ contender, shape }, round) => {
      context.log(`round ${round + 1} of ${rounds}: ${contender.id}, ${shape.keyChoice} keys`);
      runs += 1;
      const order: PeerOrder = {
        ...{ contender: contender.id, runId: `run-${runs}`, shape, emulators, restate },
        warmUpBatches: contender.warmUpBatches,
      };
      const result = await context.scratch.run(processModule, [JSON.stringify(order)]);
      return result as MeasuredPeer;
    });
    const results = variants.map((variant, at) => ({
      ...variant,
      figures: summarizePeer(measured[at]!),
    }));
    const missing = contenders.filter((one) => !chosen.includes(one));
    return [
      compareWithTargets(results),
      tabulateFigures(results, rounds),
      tabulateGuarantees(results, missing),
    ];
  },
};

/** Those that can run here; tells people how the others could. */
function chooseContenders({ log }: BenchContext): readonly Contender[] {
  const missing = findMissingPackages();
  if (missing.length === 0) return contenders;
  const others = contenders.filter(({ isForeign }) => isForeign);
  log(
    `left out, for ${missing.join(', ')} are not installed: ${others.map(({ id }) => id).join(', ')}; install them by ${installCommand}`,
  );
  return contenders.filter(({ isForeign }) => !isForeign);
}

function tabulateFigures(results: readonly PeerResult[], rounds: number): BenchTable {
  return {
    title: `The same events by each: what 1,000 events take, ${results[0]!.shape.keys} keys, batches of ${results[0]!.shape.batchEvents} (medians of ${rounds})`,
    columns: [
      { field: 'keys', heading: 'keys' },
      { field: 'contender', heading: 'by' },
      { field: 'eventsPerSecond', heading: 'events/s' },
      { field: 'clientCpuMicros', heading: 'client CPU µs/event', digits: 1 },
      { field: 'allCpuMicros', heading: 'with own servers', digits: 1 },
      { field: 'requests', heading: 'requests', digits: 1 },
      { field: 's3Requests', heading: 'of them S3', digits: 1 },
      { field: 'writeUnits', heading: 'write units', digits: 1 },
      { field: 'readUnits', heading: 'read units', digits: 1 },
    ],
    rows: results.map(({ contender, shape, figures: { repeated: _, recut: __, ...figures } }) => ({
      keys: shape.keyChoice,
      contender: contender.what,
      ...figures,
    })),
  };
}

function tabulateGuarantees(
  results: readonly PeerResult[],
  missing: readonly Contender[],
): BenchTable {
  const seen = (contender: Contender, what: 'repeated' | 'recut'): string => {
    if (missing.includes(contender)) return 'not installed';
    const own = results.filter((one) => one.contender === contender);
    return listOnce(own.map(({ figures }) => figures[what]));
  };
  return {
    title: 'What each one promises, and how often events count that are delivered twice',
    columns: [
      { field: 'contender', heading: 'by' },
      { field: 'repeated', heading: 'the same batch' },
      { field: 'recut', heading: 'cut otherwise' },
      { field: 'guarantee', heading: 'promises' },
    ],
    rows: contenders.map((contender) => ({
      contender: contender.what,
      repeated: seen(contender, 'repeated'),
      recut: seen(contender, 'recut'),
      guarantee: contender.guarantee,
    })),
  };
}
