import * as z from 'zod';
import { compareTables, type Comparison } from '../../../cli/demo/compare-tables.ts';
import { delayReports } from '../../../cli/demo/delay-reports.ts';
import { readFlights, type Flight } from '../../../cli/demo/flights.ts';
import { computePlainly } from '../../../cli/demo/plain-computation.ts';
import { openControlStore } from '../../../shared/composition/aws/control-store.ts';
import { seededRandom } from '../../../shared/core/random.ts';
import type { OpenEndpoint } from '../open-endpoint.ts';
import { deleteStack } from '../stack/delete-stack.ts';
import { deployStack, stackName, type Deployment } from '../stack/deploy-stack.ts';
import type { EndpointClients } from '../stack/endpoint-clients.ts';
import { createEndpointFeed } from './endpoint-feed.ts';
import { runHoldfast } from './run-holdfast.ts';
import { waitForRecords } from './wait-for-records.ts';

/** The demonstration has a stack of its own, which it may delete: what `deploy` has deployed stays. */
export const demoStage = 'demo';

const savepointLabel = 'half-way';

export interface EndpointDemoOptions {
  readonly endpoint: OpenEndpoint;
  readonly clients: EndpointClients;
  /** Of the 20,000, the first ones. */
  readonly flights: number;
  readonly shards: number;
  readonly seed: number;
  readonly onStep: (text: string) => void;
  readonly onPut: (put: number, total: number) => void;
  readonly signal?: AbortSignal | undefined;
}

/** What the savepoint's workflow says of it. */
const savepointMade = z.object({ keys: z.number(), bytes: z.number() });

/** What the restore's workflow says of it. */
const restoreDone = z.object({
  generation: z.number(),
  keys: z.number(),
  replayed: z.number(),
  removedRows: z.number(),
});

export interface EndpointDemoResult {
  readonly records: number;
  readonly shards: number;
  readonly seed: number;
  /** How many of the records the savepoint is behind. */
  readonly savepointBehind: number;
  readonly savepoint: z.infer<typeof savepointMade>;
  readonly restore: z.infer<typeof restoreDone>;
  readonly comparisons: { readonly processed: Comparison; readonly restored: Comparison };
  /** Of both comparisons; and one where the restore has replayed nothing. */
  readonly differences: readonly string[];
  /** What each part took. */
  readonly seconds: Readonly<Record<string, number>>;
}

/**
 * Deploys the job to an endpoint that may have one already, lets it process the flights with a savepoint half-way, restores it to
 * that, and compares its tables with the plain computation before and after. The stack stays.
 */
export async function runEndpointDemo(options: EndpointDemoOptions): Promise<EndpointDemoResult> {
  const { endpoint, clients, shards, seed, onStep, onPut, signal } = options;
  const { url } = endpoint;
  const random = seededRandom(`demo reports ${seed}`);
  const flights = delayReports(readFlights().slice(0, options.flights), random);
  const watch = createStopwatch();

  const deployment = await watch.measure('deploy', async () => {
    if (!endpoint.isNew) {
      onStep('deleting what an earlier demonstration has left');
      await deleteStack(clients, stackName(demoStage));
    }
    return deployStack(clients, { url, stage: demoStage, shards, onStep, signal });
  });
  const compare = async (): Promise<Comparison> => {
    onStep('comparing the tables');
    return compareDeployed(clients, deployment, flights);
  };
  const holdfast = (...args: string[]): Promise<unknown> =>
    runHoldfast(url, deployment, args, signal);

  const half = Math.floor(flights.length / 2);
  const stream = deployment.outputs['StreamName']!;
  const feed = createEndpointFeed(clients.kinesis, stream, (put) => onPut(put, flights.length));
  const control = openControlStore(clients.dynamodb, deployment.outputs['ControlTable']!);
  const wait = async (): Promise<void> => {
    onStep('waiting until they are processed');
    await waitForRecords({ control, job: deployment.job, ends: feed.ends(), signal });
  };

  await watch.measure('process', async () => {
    await feed.put(flights.slice(0, half));
    await wait();
  });
  const savepoint = await watch.measure('savepoint', async () => {
    onStep('holdfast savepoint create');
    return savepointMade.parse(await holdfast('savepoint', 'create', savepointLabel));
  });
  await watch.measure('process', async () => {
    await feed.put(flights.slice(half));
    await feed.end();
    await wait();
  });
  const processed = await watch.measure('compare', compare);
  const restore = await watch.measure('restore', async () => {
    onStep('holdfast restore');
    return restoreDone.parse(await holdfast('restore', savepointLabel, '--yes'));
  });
  const restored = await watch.measure('compare', compare);
  return {
    ...{ records: flights.length, shards, seed, savepointBehind: half, savepoint, restore },
    comparisons: { processed, restored },
    differences: [
      ...processed.differences,
      ...restored.differences.map((difference) => `after the restore, ${difference}`),
      ...missingReplay(restore.replayed),
    ],
    seconds: watch.seconds,
  };
}

function compareDeployed(
  { dynamodb }: EndpointClients,
  { outputs }: Deployment,
  flights: readonly Flight[],
): Promise<Comparison> {
  const tables = {
    airports: outputs['SinkAirports']!,
    alerts: outputs['SinkAlerts']!,
    hours: outputs['SinkHours']!,
    late: outputs['SinkLate']!,
    deadLetters: outputs['DeadLetterTable']!,
  };
  return compareTables(dynamodb, tables, computePlainly(flights));
}

/**
 * Tables that are equal because nothing was replayed would prove nothing. How many it were is not compared: an invocation that is
 * killed at its time limit does not tell what it had replayed until then.
 */
function missingReplay(replayed: number): string[] {
  return replayed > 0 ? [] : ['the restore replayed nothing of what came behind the savepoint'];
}

interface Stopwatch {
  /** Adds what it takes to a part. */
  measure<Result>(part: string, run: () => Promise<Result>): Promise<Result>;
  readonly seconds: Readonly<Record<string, number>>;
}

function createStopwatch(): Stopwatch {
  const seconds: Record<string, number> = {};
  return {
    seconds,
    async measure(part, run) {
      const beganAtMs = performance.now();
      const result = await run();
      const total = (seconds[part] ?? 0) + (performance.now() - beganAtMs) / 1_000;
      seconds[part] = Math.round(total * 10) / 10;
      return result;
    },
  };
}
