import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createMemoryShardWriter } from '../../../shared/adapters/memory/memory-shard-writer.ts';
import { createMemoryStream } from '../../../shared/adapters/memory/memory-stream.ts';
import { createMemorySystem } from '../../../shared/adapters/memory/memory-system.ts';
import { decodeHeartbeat } from '../../../shared/core/heartbeat.ts';
import { defineOperator } from '../../../shared/operator/operator.ts';
import { appendSink } from '../../../shared/operator/sink.ts';
import { endOfStreamMs } from '../../../shared/operator/windows/windowing.ts';
import type { ShardWriter } from '../../../shared/ports/shard-writer.ts';
import { putHeartbeats, sendHeartbeats } from '../../../shared/runtime/send-heartbeats.ts';
import { createJob, deliverUntilDone, encodeJson, firstShard, type Job } from './job-fixture.ts';

const second = 1_000;
const startMs = Date.UTC(2025, 0, 1);

/** Notes each event, with whether it was late, and says so when event time has come a minute past it. */
const reminder = defineOperator({
  id: 'reminder',
  schema: z.object({ user: z.string(), at: z.number() }),
  key: ({ user }) => user,
  eventTime: { time: ({ at }) => at, outOfOrdernessMs: 10 * second },
  state: {},
  sinks: { entries: appendSink({ row: z.object({ total: z.string() }) }) },
  process({ at }, ctx) {
    const isLate = ctx.watermark !== undefined && at < ctx.watermark;
    const offset = (at - startMs) / second;
    ctx.emit({ sink: 'entries', row: { total: `${isLate ? 'late' : 'event'} ${offset}` } });
    ctx.timers.register({ name: `due-${offset}`, time: at + 60 * second });
  },
  onTimer({ name }, ctx) {
    ctx.emit({ sink: 'entries', row: { total: name } });
  },
});

/** A job whose users' events are delivered shard by shard, whenever asked, from where it stands. */
const createReminderJob = async (shards = 1) => {
  const job = await createJob({ operator: reminder, shards, settings: { drainAfterMs: 0 } });
  const writer = createMemoryShardWriter(job.stream);
  return {
    ...{ job, writer, stream: job.stream },
    put(user: string, offsetSeconds: number): void {
      job.stream.put(user, encodeJson({ user, at: startMs + offsetSeconds * second }));
    },
    /** The clock says so many seconds after the start. */
    at(seconds: number): void {
      job.system.advance(startMs + seconds * second - job.system.now());
    },
    send: (behindMs = 0) => sendHeartbeats({ writer, system: job.system }, behindMs),
    entriesOf: (user: string): unknown[] => job.entriesOf(user),
  };
};

async function deliver(job: Job, shardId = firstShard): Promise<void> {
  const records = job.records(shardId);
  if (records.length > 0) await deliverUntilDone(job.createEnvironment(), records, { shardId });
}

describe('heartbeats', () => {
  it('reach every open shard and say how far behind now event time is', async () => {
    const stream = createMemoryStream({ shards: 3 });
    const system = createMemorySystem({ startMs });
    const writer = createMemoryShardWriter(stream);
    const sent = await sendHeartbeats({ writer, system }, 90 * second);
    expect(sent).toEqual({ time: startMs - 90 * second, shards: 3 });
    for (const { records } of stream.shards()) {
      expect(records.map((record) => decodeHeartbeat(record.data))).toEqual([sent.time]);
    }
  });

  it('say the time at which the call began, however long listing and putting take', async () => {
    const stream = createMemoryStream();
    const system = createMemorySystem({ startMs });
    const memory = createMemoryShardWriter(stream);
    const slow: ShardWriter = {
      async listOpenShards() {
        system.advance(60 * second);
        return memory.listOpenShards();
      },
      putAt: memory.putAt,
    };
    expect((await sendHeartbeats({ writer: slow, system }, 0)).time).toBe(startMs);
  });

  it.each([0.5, Number.NaN, Infinity, 8.64e15, -8.64e15])('cannot say %d', async (time) => {
    const stream = createMemoryStream();
    const put = putHeartbeats(createMemoryShardWriter(stream), time);
    await expect(put).rejects.toMatchObject({ kind: 'invalid' });
    await expect(put).rejects.toThrow(`a heartbeat cannot carry the time ${time}; expected`);
    expect(stream.shard(firstShard).records).toEqual([]);
  });
});

describe('an operator that gets heartbeats', () => {
  it('goes on in event time while nothing arrives', async () => {
    const { job, put, at, send, entriesOf } = await createReminderJob();
    put('ann', 0);
    at(59);
    await send();
    await deliver(job);
    expect(entriesOf('ann')).toEqual(['event 0']);
    at(60);
    await send();
    await deliver(job);
    expect(entriesOf('ann')).toEqual(['event 0', 'due-0']);
  });

  it('has exactly their time as its watermark: out-of-orderness is in `behind`', async () => {
    const { job, put, at, send, entriesOf } = await createReminderJob();
    at(100);
    await send(30 * second);
    put('ann', 70);
    put('ann', 69);
    await deliver(job);
    expect(entriesOf('ann')).toEqual(['event 70', 'late 69']);
    expect(job.progress()?.watermarks.event).toBe(startMs + 70 * second);
  });

  it('is not taken back by one that says less than its events', async () => {
    const { job, put, at, send, entriesOf } = await createReminderJob();
    put('ann', 100);
    at(50);
    await send(30 * second);
    put('ann', 89);
    await deliver(job);
    expect(job.progress()?.watermarks.event).toBe(startMs + 90 * second);
    expect(entriesOf('ann')).toEqual(['event 100', 'late 89']);
  });

  it('does the same whether they come once, twice, at once or out of order', async () => {
    const stories: ((send: () => Promise<unknown>, older: () => Promise<unknown>) => unknown)[] = [
      (send) => send(),
      async (send) => [await send(), await send()],
      (send) => Promise.all([send(), send()]),
      async (send, older) => [await send(), await older()],
      async (send, older) => [await older(), await send()],
    ];
    const results = [];
    for (const story of stories) {
      const { job, put, at, send, entriesOf } = await createReminderJob();
      put('ann', 0);
      at(60);
      await story(send, () => send(20 * second));
      put('ann', 61);
      await deliver(job);
      results.push({ entries: entriesOf('ann'), event: job.progress()?.watermarks.event });
    }
    expect(results).toEqual(
      stories.map(() => ({
        entries: ['event 0', 'due-0', 'event 61'],
        event: startMs + 60 * second,
      })),
    );
  });

  it('sees the same in a replay, whatever the clock says by then', async () => {
    const { job, put, at, send, stream } = await createReminderJob();
    put('ann', 0);
    at(60);
    await send();
    await deliver(job);
    const replayed = await createReminderJob();
    replayed.at(100_000);
    for (const { partitionKey, data, arrivalMs } of stream.shard(firstShard).records) {
      replayed.stream.put(partitionKey, data, { explicitHashKey: '0', arrivalMs });
    }
    await deliver(replayed.job);
    expect(replayed.entriesOf('ann')).toEqual(job.entriesOf('ann'));
    expect(replayed.job.progress()?.watermarks.event).toBe(job.progress()?.watermarks.event);
  });

  it('closes everything at the end of a bounded stream', async () => {
    const { job, put, writer, entriesOf } = await createReminderJob();
    put('ann', 0);
    put('ann', 20);
    await putHeartbeats(writer, endOfStreamMs);
    await deliver(job);
    expect(entriesOf('ann').slice(2)).toEqual(['due-0', 'due-20']);
    expect(job.progress()?.watermarks.event).toBe(endOfStreamMs);
  });
});

describe('a shard in which nothing but heartbeats arrives', () => {
  const hours = 3_600;

  /** An event, then two days of silence, or of the rarest heartbeats of which every other one is lost; then an event. */
  const passTwoDays = async (hasHeartbeats: boolean): Promise<unknown[]> => {
    const { job, put, at, send, stream, entriesOf } = await createReminderJob();
    put('ann', 0);
    await deliver(job);
    let last = job.records().at(-1)!;
    for (let hour = 16; hour <= 48; hour += 16) {
      at(hour * hours);
      const expired = job
        .records()
        .filter(({ arrivalMs }) => arrivalMs < job.system.now() - 86_400_000);
      if (expired.length > 0) stream.trim(firstShard, expired.at(-1)!.sequence);
      if (hasHeartbeats) await send();
      const fresh = job
        .records()
        .filter(({ sequence }) => BigInt(sequence) > BigInt(last.sequence));
      if (fresh.length > 0) await deliverUntilDone(job.createEnvironment(), fresh);
      last = fresh.at(-1) ?? last;
    }
    put('ann', 48 * hours);
    await deliverUntilDone(job.createEnvironment(), job.records().slice(-1));
    return entriesOf('ann');
  };

  it('never grows older than retention, so that its next event is taken', async () => {
    expect(await passTwoDays(true)).toEqual(['event 0', 'due-0', `event ${48 * hours}`]);
  });

  it('would stop at its next event without them', async () => {
    await expect(passTwoDays(false)).rejects.toThrow(/may be lost/);
  });
});

describe('heartbeats in a stream that is resharded', () => {
  /** Two users whose keys are in different halves of the hash space. */
  const [low, high] = ['ann', 'bob'] as const;

  it('reach one child of a shard that is split between list and put, and both the next time', async () => {
    const { job, put, at, send, stream, writer, entriesOf } = await createReminderJob();
    put(low, 0);
    put(high, 0);
    at(60);
    let children: [string, string] | undefined;
    const splitting: ShardWriter = {
      async listOpenShards() {
        const shards = await writer.listOpenShards();
        children = stream.split(firstShard);
        return shards;
      },
      putAt: writer.putAt,
    };
    expect(await sendHeartbeats({ writer: splitting, system: job.system }, 0)).toMatchObject({
      shards: 1,
    });
    await deliver(job);
    for (const child of children!) await deliver(job, child);
    const entries = (): unknown[][] => [entriesOf(low), entriesOf(high)];
    expect(
      entries()
        .flat()
        .filter((entry) => entry === 'due-0'),
    ).toHaveLength(1);

    expect(await send()).toMatchObject({ shards: 2 });
    for (const child of children!) await deliver(job, child);
    expect(entries()).toEqual([
      ['event 0', 'due-0'],
      ['event 0', 'due-0'],
    ]);
  });

  it('do not overtake what a parent still has, although they wait in its child', async () => {
    const { job, put, at, send, stream, entriesOf } = await createReminderJob();
    put(low, 0);
    put(high, 1);
    const children = stream.split(firstShard);
    at(3_600);
    await send();
    // Nobody has read the parent: the child reads it first.
    for (const child of children) await deliver(job, child);
    expect(entriesOf(low)).toEqual(['event 0', 'due-0']);
    expect(entriesOf(high)).toEqual(['event 1', 'due-1']);
    expect(job.progress(firstShard)?.watermarks.event).toBe(startMs - 9 * second);
  });

  it('reach the child of two shards that are merged, where they count once', async () => {
    const { job, put, at, send, stream, entriesOf } = await createReminderJob(2);
    put(low, 0);
    put(high, 0);
    const parents = stream.shards().map(({ shardId }) => shardId);
    const merged = stream.merge(parents[0]!, parents[1]!);
    at(60);
    expect(await send()).toMatchObject({ shards: 1 });
    for (const shardId of [...parents, merged]) await deliver(job, shardId);
    expect(entriesOf(low)).toEqual(['event 0', 'due-0']);
    expect(entriesOf(high)).toEqual(['event 0', 'due-0']);
  });
});
