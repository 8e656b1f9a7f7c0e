import * as z from 'zod';
import { count, sum } from '../../shared/operator/aggregator.ts';
import { defineOperator } from '../../shared/operator/operator.ts';
import { upsertSink } from '../../shared/operator/sink.ts';
import { aggregatingState } from '../../shared/operator/state.ts';
import type { StateStore } from '../../shared/ports/state-store.ts';
import { createStores, openCountingJob } from '../embedded/counting-job.ts';
import {
  sumRequests,
  takeUsage,
  useEmulators,
  type EmulatorPlaces,
  type EmulatorUsage,
} from '../embedded/emulators.ts';
import { createEventSource, keyName, type BenchEvent } from '../floor/events.ts';
import { takeTurns } from '../harness/statistics.ts';
import { createLoopJob } from '../record-loop/loop-job.ts';

/*
 * A process with one job over the emulators: node unit-process.ts <task as JSON>. Prints what each round has taken as JSON.
 */

export interface UnitTask {
  readonly emulators: EmulatorPlaces;
  /** Names its tables and its bucket. */
  readonly jobId: string;
  readonly keys: number;
  /** Most records in a delivery. Of each key equally many come in a round, in turn. */
  readonly events: number;
  readonly rounds: number;
  /** How many are made at least before anything is measured. */
  readonly warmUpRequests: number;
  /** Each state also upserts a row. */
  readonly hasSink: boolean;
}

/** What a round has taken. */
export interface UnitFigures {
  readonly usage: EmulatorUsage;
  /** Of the thread that processes, µs; and of it from the begin of writing states to their being written. */
  readonly cpuMicros: number;
  readonly stateCpuMicros: number;
  readonly keysWritten: number;
}

export interface UnitRounds {
  readonly warm: readonly UnitFigures[];
  readonly cold: readonly UnitFigures[];
}

const { emulators, jobId, keys, events, rounds, warmUpRequests, hasSink } = JSON.parse(
  process.argv[2]!,
) as UnitTask;

const customers = defineOperator({
  id: 'customers',
  schema: z.object({ key: z.string(), amount: z.number() }),
  key: (event) => event.key,
  state: { sum: aggregatingState(sum()), count: aggregatingState(count()) },
  sinks: { customers: upsertSink({ row: z.object({ sum: z.number(), count: z.number() }) }) },
  process(event, ctx) {
    const { state } = ctx;
    state.sum.add(event.amount);
    state.count.add(event);
    if (!hasSink) return;
    const row = { sum: state.sum.get() ?? 0, count: state.count.get() ?? 0 };
    ctx.emit({ sink: 'customers', row });
  },
});

useEmulators(emulators);
await createStores(jobId);
// Records come from memory: the stream's own requests are two for each environment.
const aws = openCountingJob(customers, jobId);
let stateCpuMicros = 0;
const state: StateStore = {
  ...aws.state,
  async write(scope, writes) {
    const before = process.threadCpuUsage();
    // Nothing else happens meanwhile: outputs, segment and progress come after it (P1).
    const outcomes = await aws.state.write(scope, writes);
    stateCpuMicros += microsSince(before);
    return outcomes;
  },
};
const { control, hints, objects, sinks } = aws;
const job = await createLoopJob(customers, { control, hints, objects, sinks, state });
const source = createEventSource(keys, 'uniform');

// Afterwards every key is there, the environment is warm, and V8 has compiled what is hot.
for (let requests = 0; requests < warmUpRequests;) {
  requests += sumRequests((await measure()).usage);
}
const [warm, cold] = await takeTurns(rounds, ['warm', 'cold'] as const, async (variant) => {
  if (variant === 'cold') job.startAnew();
  return await measure();
});
const result: UnitRounds = { warm: warm!, cold: cold! };
process.stdout.write(`${JSON.stringify(result)}\n`);
// Connections that are kept would keep it alive.
process.exit();

async function measure(): Promise<UnitFigures> {
  const some = source.next(events).map((event, at): BenchEvent => ({
    ...event,
    key: keyName(at % keys),
  }));
  const batches = job.put(some, events);
  await takeUsage(emulators);
  stateCpuMicros = 0;
  const { keysWritten } = job.total();
  const before = process.threadCpuUsage();
  for (const batch of batches) await job.handle(batch);
  const cpuMicros = microsSince(before);
  const usage = await takeUsage(emulators);
  const written = job.total().keysWritten - keysWritten;
  return { usage, cpuMicros, stateCpuMicros, keysWritten: written };
}

function microsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}
