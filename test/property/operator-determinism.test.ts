import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { channelId } from '../../shared/core/channel.ts';
import { comparePositions, formatPosition } from '../../shared/core/position.ts';
import { decodeSegment, type Segment } from '../../shared/core/segment.ts';
import type { StoredItem } from '../../shared/core/stored-item.ts';
import { segmentName } from '../../shared/runtime/object-names.ts';
import { diary, type DiaryEvent } from './diary.ts';
import { aggregate } from '../unit/core/aggregate-fixture.ts';
import {
  createMemoryAppendSink,
  createMemoryUpsertSink,
} from '../../shared/adapters/memory/memory-sink.ts';
import { deadLetterSink } from '../../shared/core/emission.ts';
import {
  createJob,
  encodeJson,
  jobName,
  type Environment,
  type Job,
} from '../unit/runtime/job-fixture.ts';

/*
 * However the records of a shard are cut into batches and units, delivered again, or moved from one environment to the
 * next, the tables and the changelog come out as from one straight run. The state of the
 * operator is the order of its input, and it draws from ctx.random().
 */

type Input = { readonly writer: string; readonly kind: DiaryEvent['kind'] | 'garbage' };

const input: fc.Arbitrary<Input> = fc.record({
  writer: fc.constantFrom('ann', 'bob', 'kim'),
  kind: fc.constantFrom('add', 'add', 'add', 'burn', 'garbage'),
});

/** One Kinesis record: an event, or several aggregated ones. */
const kinesisRecord = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(input) },
  { weight: 1, arbitrary: fc.array(input, { minLength: 2, maxLength: 4 }) },
);

/** How a run goes: the bounds of a unit, and for each delivery how it differs from "the next few, by the same". */
interface Course {
  readonly unitRecordsMax: number;
  readonly cacheBytesMax: number;
  readonly deliveries: readonly {
    readonly records: number;
    readonly repeated: number;
    readonly skipped: number;
    readonly isCold: boolean;
  }[];
}

const course: fc.Arbitrary<Course> = fc.record({
  unitRecordsMax: fc.integer({ min: 1, max: 6 }),
  cacheBytesMax: fc.constantFrom(0, 1500, 64 * 1024 * 1024),
  deliveries: fc.array(
    fc.record({
      records: fc.integer({ min: 1, max: 7 }),
      repeated: fc.nat({ max: 4 }),
      skipped: fc.constantFrom(0, 0, 0, 1, 2),
      isCold: fc.boolean(),
    }),
    { minLength: 1, maxLength: 8 },
  ),
});

const straight: Course = {
  unitRecordsMax: 1000,
  cacheBytesMax: 64 * 1024 * 1024,
  deliveries: [{ records: 1000, repeated: 0, skipped: 0, isCold: false }],
};

async function run(records: readonly (readonly Input[])[], { deliveries, ...settings }: Course) {
  const sinks = {
    journal: createMemoryAppendSink(),
    pages: createMemoryUpsertSink(),
    deadLetters: createMemoryAppendSink(),
  };
  const job = await createJob({ operator: diary(), settings });
  const overrides = {
    sinks: new Map([
      ['journal', sinks.journal],
      ['pages', sinks.pages],
      [deadLetterSink, sinks.deadLetters],
    ]),
  };
  putRecords(job, records);
  const all = job.records();
  let environment: Environment = job.createEnvironment(overrides);
  let done = 0;
  for (let turn = 0; done < all.length; turn += 1) {
    const delivery = deliveries[turn % deliveries.length]!;
    if (delivery.isCold) environment = job.createEnvironment(overrides);
    // Only an environment that cannot tell looks for what the trigger has skipped.
    const skipped = delivery.isCold ? delivery.skipped : 0;
    const from = skipped > 0 ? done + skipped : done - delivery.repeated;
    const end = Math.min(Math.max(done, from) + delivery.records, all.length);
    const batch = all.slice(Math.max(0, Math.min(from, all.length - 1)), end);
    const outcome = await environment.deliver(batch);
    expect(outcome.kind).toBe('done');
    done = end;
  }
  const rows = (sink: { rows(): readonly object[] }) => sink.rows();
  return {
    states: job.state.rows().map(({ item }) => describeItem(item)),
    changelog: foldChangelog(job).map(describeItem),
    journal: rows(sinks.journal),
    pages: rows(sinks.pages),
    removed: sinks.pages.removedRows(),
    deadLetters: rows(sinks.deadLetters),
    position: job.progress()?.position,
    isExact: job.progress()?.aheadMax === undefined,
  };
}

function putRecords(job: Job, records: readonly (readonly Input[])[]): void {
  let id = 0;
  for (const events of records) {
    const entries = events.map(({ writer, kind }) => ({
      partitionKey: writer,
      data: kind === 'garbage' ? '{' : encodeJson({ writer, id: (id += 1), kind }),
    }));
    const [first] = entries;
    if (entries.length === 1) job.putRaw(first!.partitionKey, first!.data);
    else job.putRaw(first!.partitionKey, aggregate(entries));
  }
}

/** What must not depend on the cuts. Versions begin anywhere, and an item keeps only emissions that its unit had. */
function describeItem(item: StoredItem): object {
  const { key, keyGroup, position, arrivalMs, states } = item;
  return { key, keyGroup, position: formatPosition(position), arrivalMs, states };
}

/** The newest item of each key in the segments that progress leads to, as a restore reads them. */
function foldChangelog(job: Job): StoredItem[] {
  const { progress, channel } = job.control.progressRows()[0]!;
  const objects = job.objects.objects();
  const read = (reference: { number: number; attempt: string }): Segment => {
    const name = segmentName(jobName, progress.generation, channelId(channel), reference);
    return decodeSegment(objects.get(name)!, name);
  };
  const head = read(progress.head!);
  const items = new Map<string, StoredItem>();
  for (const segment of [head, ...head.header.chain.map(read)]) {
    for (const item of segment.items) {
      const known = items.get(item.key);
      if (known === undefined || comparePositions(item.position, known.position) > 0) {
        items.set(item.key, item);
      }
    }
  }
  return [...items.values()].toSorted(
    (a, b) => a.keyGroup - b.keyGroup || (a.key < b.key ? -1 : 1),
  );
}

describe('state, outputs and changelog', () => {
  it('do not depend on how records are cut into batches and units', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(kinesisRecord, { minLength: 1, maxLength: 25 }),
        course,
        async (records, cuts) => {
          const expected = await run(records, straight);
          expect(expected.isExact).toBe(true);
          expect(await run(records, cuts)).toEqual(expected);
        },
      ),
      { numRuns: 200 },
    );
  });
});
