import v8 from 'node:v8';
import vm from 'node:vm';
import { createDecodeFloor, createStateFloor } from '../floor/decode-floor.ts';
import { createEventSource, keyName, type Spread } from '../floor/events.ts';
import { takeTurns } from '../harness/statistics.ts';
import { createLoopJob } from './loop-job.ts';
import { loopOperators, type LoopOperator } from './loop-operators.ts';

/*
 * A process as a function has it: it runs one operator and nothing else. Prints how long each round took as JSON.
 */

/** What to run. */
export interface LoopTask {
  readonly operator: LoopOperator;
  readonly keys: number;
  readonly spread: Spread;
  /** Event time between two events, ms. */
  readonly everyMs: number;
  readonly batchRecords: number;
  /** In each round. */
  readonly events: number;
  readonly rounds: number;
  /** Before anything is measured, so that V8 has compiled what is hot. */
  readonly warmUpEvents: number;
}

/** CPU µs for each event, by round; and what the product did in all of them. */
export interface LoopFigures {
  readonly decode: readonly number[];
  readonly state: readonly number[];
  readonly product: readonly number[];
  readonly keysWrittenPerEvent: number;
  readonly cacheHitShare: number;
}

/** Each turn begins with an empty nursery: nobody pays for the garbage of who was before. */
const collectYoung = exposeCollector();

const task = JSON.parse(process.argv[2]!) as LoopTask;
process.stdout.write(`${JSON.stringify(await measure(task))}\n`);

async function measure(task: LoopTask): Promise<LoopFigures> {
  const { batchRecords, events, rounds } = task;
  const warmUpRounds = Math.ceil(task.warmUpEvents / events);
  const job = await createLoopJob(loopOperators[task.operator]);
  const source = createEventSource(task.keys, task.spread, task.everyMs);
  const floors = { decode: createDecodeFloor(), state: createStateFloor() };
  // Every key is there before anything is measured, as in a job that has run for a while.
  for (let from = 0; from < task.keys; from += events) {
    const some = source.next(Math.min(events, task.keys - from));
    const keyed = some.map((event, at) => ({ ...event, key: keyName(from + at) }));
    for (const batch of job.put(keyed, batchRecords)) {
      await job.handle(batch);
      floors.decode(batch);
      floors.state(batch);
    }
  }
  const variants = ['decode', 'state', 'product'] as const;
  let before = job.total();
  let batches = job.put([], 1);
  const measured = await takeTurns(rounds + warmUpRounds, variants, async (variant, round) => {
    // All three get the same events, and memory that has been read before.
    if (variant === 'decode') {
      batches = job.put(source.next(events), batchRecords);
      for (const batch of batches) floors.decode(batch);
    }
    if (variant === 'product' && round === warmUpRounds) before = job.total();
    collectYoung({ type: 'minor' });
    return await cpuMicros(events, async () => {
      for (const batch of batches) {
        if (variant === 'product') await job.handle(batch);
        else floors[variant](batch);
      }
    });
  });
  const [decode, state, product] = measured.map((figures) => figures.slice(warmUpRounds));
  const after = job.total();
  const touched = after.cacheHits + after.keysLoaded - before.cacheHits - before.keysLoaded;
  return {
    ...{ decode: decode!, state: state!, product: product! },
    keysWrittenPerEvent: (after.keysWritten - before.keysWritten) / (rounds * events),
    cacheHitShare: (after.cacheHits - before.cacheHits) / touched,
  };
}

function exposeCollector(): (how: { readonly type: 'minor' }) => void {
  v8.setFlagsFromString('--expose-gc');
  return vm.runInNewContext('gc') as (how: { readonly type: 'minor' }) => void;
}

/** Of this process, garbage collection and compilation included: what Lambda bills is CPU, and one core does it. */
async function cpuMicros(events: number, run: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / events;
}
