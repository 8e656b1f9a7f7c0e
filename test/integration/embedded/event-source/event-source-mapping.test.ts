import { describe, expect, it } from 'vitest';

import { pollUntilTrue } from '../poll-until.ts';
import { MemoryStream } from './memory-stream.ts';
import { failure, reportFailed, startTestMapping, success } from './test-mapping.ts';

function streamOf(...ids: string[]): MemoryStream {
  const stream = new MemoryStream('s1');
  for (const id of ids) stream.put('s1', id);
  return stream;
}

describe('delivery', () => {
  it('hands a shard over in order, batch size by batch size', async () => {
    const stream = streamOf('a', 'b', 'c', 'd', 'e');
    const { mapping, batches } = startTestMapping({ stream, settings: { batchSize: 2 } });
    await mapping.whenIdle();
    expect(batches()).toEqual(['a b', 'c d', 'e']);
    expect(mapping.stats()).toMatchObject({ batches: 3, records: 5, redeliveries: 0, lagMs: 0 });
  });

  it('has one batch at a time in flight for each shard', async () => {
    const stream = new MemoryStream('s1', 's2');
    for (const id of ['a', 'b', 'c']) {
      stream.put('s1', id);
      stream.put('s2', id);
    }
    const inFlight = new Map<string, number>();
    let most = 0;
    const { mapping, deliveries } = startTestMapping({
      stream,
      settings: { batchSize: 1 },
      async handle({ shardId }) {
        inFlight.set(shardId, (inFlight.get(shardId) ?? 0) + 1);
        most = Math.max(most, ...inFlight.values());
        await new Promise((resolve) => setImmediate(resolve));
        inFlight.set(shardId, (inFlight.get(shardId) ?? 0) - 1);
        return success();
      },
    });
    await mapping.whenIdle();
    expect(most).toBe(1);
    expect(deliveries).toHaveLength(6);
  });

  it('puts records that arrive within one window into one batch', async () => {
    const stream = streamOf('a');
    let nowMs = 0;
    const settings = { windowMs: 1_000 };
    const { mapping, batches } = startTestMapping({ stream, settings, nowMs: () => nowMs });
    await pollUntilTrue('the first read', () => stream.recordsRead === 1);
    nowMs = 999;
    stream.put('s1', 'b');
    stream.put('s1', 'c');
    await pollUntilTrue('the second read', () => stream.recordsRead === 3);
    expect(batches()).toEqual([]);
    nowMs = 1_000;
    await mapping.whenIdle();
    expect(batches()).toEqual(['a b c']);
  });

  it('cuts a batch at 6 MB of event', async () => {
    const stream = new MemoryStream('s1');
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) stream.put('s1', id, { padding: 1_000_000 });
    const { mapping, batches } = startTestMapping({ stream });
    await mapping.whenIdle();
    expect(batches()).toEqual(['a b c d', 'e f']);
  });

  it('opens an iterator again when it has expired', async () => {
    const stream = streamOf('a', 'b', 'c');
    stream.iteratorsExpire = true;
    const { mapping, batches } = startTestMapping({ stream, settings: { batchSize: 1 } });
    await mapping.whenIdle();
    expect(batches()).toEqual(['a', 'b', 'c']);
  });

  it('looks again at once when it is asked whether it is idle', async () => {
    const stream = streamOf('a');
    const never = 3_600_000;
    const { mapping, batches } = startTestMapping({
      stream,
      pace: { pollIntervalMsMin: never, pollIntervalMsMax: never, discoveryIntervalMs: never },
    });
    await mapping.whenIdle();
    stream.put('s1', 'b');
    await mapping.whenIdle();
    stream.reshard(['s1'], 's2');
    stream.put('s2', 'c');
    await mapping.whenIdle();
    expect(batches()).toEqual(['a', 'b', 'c']);
  });

  it('survives a stream that does not answer', async () => {
    const stream = streamOf('a', 'b');
    stream.failingReads = 3;
    const { mapping, batches } = startTestMapping({ stream });
    await mapping.whenIdle();
    expect(batches()).toEqual(['a b']);
  });
});

describe('starting positions', () => {
  it('leaves out what came before LATEST', async () => {
    const stream = streamOf('old');
    let nowMs = 2_000;
    const { mapping, batches } = startTestMapping({
      stream,
      settings: { startingPosition: { kind: 'latest' } },
      nowMs: () => nowMs,
    });
    await mapping.whenIdle();
    stream.put('s1', 'new', { arrivalMs: 2_001 });
    nowMs = 3_000;
    await mapping.whenIdle();
    expect(batches()).toEqual(['new']);
  });

  it('does not lose what arrives while a LATEST mapping is paused', async () => {
    const stream = streamOf('old');
    const { mapping, batches } = startTestMapping({
      stream,
      settings: { startingPosition: { kind: 'latest' } },
      nowMs: () => 2_000,
    });
    await mapping.whenIdle();
    mapping.pause();
    stream.put('s1', 'meanwhile', { arrivalMs: 2_001 });
    mapping.resume();
    await mapping.whenIdle();
    expect(batches()).toEqual(['meanwhile']);
  });

  it('begins at a timestamp', async () => {
    const stream = new MemoryStream('s1');
    for (const [id, arrivalMs] of [
      ['a', 10],
      ['b', 20],
      ['c', 30],
    ] as const) {
      stream.put('s1', id, { arrivalMs });
    }
    const startingPosition = { kind: 'timestamp', timestampMs: 20 } as const;
    const { mapping, batches } = startTestMapping({ stream, settings: { startingPosition } });
    await mapping.whenIdle();
    expect(batches()).toEqual(['b c']);
  });
});

describe('failures', () => {
  it('delivers again from the lowest failed record', async () => {
    const { mapping, batches } = startTestMapping({
      stream: streamOf('a', 'b', 'c', 'd'),
      handle: (delivery, number) => (number === 1 ? reportFailed(delivery, 'd', 'c') : success()),
    });
    await mapping.whenIdle();
    expect(batches()).toEqual(['a b c d', 'c d']);
    expect(mapping.stats()).toMatchObject({ partialFailures: 1, failures: 0, redeliveries: 2 });
  });

  it('delivers a whole batch again after a crash, for ever', async () => {
    const { mapping, batches } = startTestMapping({
      stream: streamOf('a', 'b'),
      handle: (_delivery, number) => (number <= 20 ? failure() : success()),
    });
    await mapping.whenIdle();
    expect(batches()).toEqual(Array.from({ length: 21 }, () => 'a b'));
    expect(mapping.stats()).toMatchObject({ failures: 20, recordsGivenUp: 0 });
  });

  it('keeps later records back while a batch fails', async () => {
    const stream = streamOf('a');
    const { mapping, batches } = startTestMapping({
      stream,
      handle(delivery, number) {
        if (number === 1) stream.put('s1', 'b');
        return number <= 3 && delivery.ids.includes('a') ? failure() : success();
      },
    });
    await mapping.whenIdle();
    expect(batches()).toEqual(['a', 'a', 'a', 'a', 'b']);
  });

  it('reads a retried batch from the stream again', async () => {
    const stream = streamOf('a', 'b');
    const { mapping } = startTestMapping({
      stream,
      handle: (_delivery, number) => (number === 1 ? failure() : success()),
    });
    await mapping.whenIdle();
    expect(stream.opened).toEqual([{ kind: 'trim-horizon' }, { kind: 'at', sequenceNumber: '1' }]);
  });

  it('does not count a throttle as a retry', async () => {
    const { mapping, batches } = startTestMapping({
      stream: streamOf('a'),
      settings: { retriesMax: 0 },
      handle: (_delivery, number) =>
        number <= 5
          ? { kind: 'rejected', reason: 'throttled', requestId: 'r', errorMessage: 'busy' }
          : success(),
    });
    await mapping.whenIdle();
    expect(batches()).toHaveLength(6);
    expect(mapping.stats()).toMatchObject({ failures: 0, recordsGivenUp: 0 });
  });

  it('halves a failing batch when it is told to bisect', async () => {
    const { mapping, batches } = startTestMapping({
      stream: streamOf('a', 'b', 'c', 'd'),
      settings: { bisectsOnError: true, retriesMax: 0 },
      handle: ({ ids }) => (ids.includes('b') ? failure() : success()),
    });
    await mapping.whenIdle();
    expect(batches()).toEqual(['a b c d', 'a b', 'a', 'b c d', 'b c', 'b', 'c d']);
    expect(mapping.stats().recordsGivenUp).toBe(1);
  });
});

describe('giving up', () => {
  it('writes the batch to the destination after the last retry and goes on', async () => {
    const written: { key: string; record: Record<string, unknown> }[] = [];
    const stream = streamOf('a', 'b');
    const { mapping, batches, deliveries } = startTestMapping({
      stream,
      settings: { retriesMax: 2 },
      nowMs: () => Date.UTC(2026, 0, 2, 3, 4, 5),
      destination: (key, record) => {
        written.push({ key, record });
        stream.put('s1', 'c');
        return Promise.resolve();
      },
      handle: ({ ids }) => (ids.includes('a') ? failure() : success()),
    });
    await mapping.whenIdle();
    expect(batches()).toEqual(['a b', 'a b', 'a b', 'c']);
    expect(written).toHaveLength(1);
    expect(written[0]?.key).toMatch(
      /^aws\/lambda\/mapping-id\/s1\/2026\/01\/02\/2026-01-02T03\.04\.05-[0-9a-f-]{36}$/,
    );
    expect(written[0]?.record).toEqual({
      requestContext: {
        requestId: expect.any(String) as string,
        functionArn: 'arn:aws:lambda:us-east-1:000000000000:function:tested',
        condition: 'RetryAttemptsExhausted',
        approximateInvokeCount: 3,
      },
      responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
      version: '1.0',
      timestamp: '2026-01-02T03:04:05.000Z',
      KinesisBatchInfo: {
        shardId: 's1',
        startSequenceNumber: '1',
        endSequenceNumber: '2',
        approximateArrivalOfFirstRecord: '1970-01-01T00:00:01.000Z',
        approximateArrivalOfLastRecord: '1970-01-01T00:00:01.000Z',
        batchSize: 2,
        streamArn: 'arn:aws:kinesis:us-east-1:000000000000:stream/tested',
      },
      payload: JSON.stringify(deliveries[0]?.event),
    });
    expect(mapping.stats()).toMatchObject({ destinationWrites: 1, recordsGivenUp: 2, failures: 3 });
  });

  it('gives up records that are too old, and only those', async () => {
    const conditions: unknown[] = [];
    const stream = new MemoryStream('s1');
    stream.put('s1', 'old', { arrivalMs: 0 });
    stream.put('s1', 'young', { arrivalMs: 50_000 });
    const { mapping, batches } = startTestMapping({
      stream,
      settings: { recordAgeMsMax: 60_000 },
      nowMs: () => 60_001,
      destination: (_key, record) => {
        conditions.push((record['requestContext'] as { condition: string }).condition);
        return Promise.resolve();
      },
    });
    await mapping.whenIdle();
    expect(batches()).toEqual(['young']);
    expect(conditions).toEqual(['RecordAgeExceeded']);
    expect(mapping.stats()).toMatchObject({ recordsGivenUp: 1, destinationWrites: 1 });
  });

  it('discards silently without a destination, as AWS does', async () => {
    const { mapping, batches } = startTestMapping({
      stream: streamOf('a'),
      settings: { retriesMax: 0 },
      handle: () => failure(),
    });
    await mapping.whenIdle();
    expect(batches()).toEqual(['a']);
    expect(mapping.stats()).toMatchObject({ recordsGivenUp: 1, destinationWrites: 0 });
  });
});

describe('resharding', () => {
  function splitStream(): MemoryStream {
    const stream = streamOf('a', 'b');
    stream.reshard(['s1'], 's2', 's3');
    stream.put('s2', 'c');
    stream.put('s3', 'd');
    return stream;
  }

  it('delivers a parent to its end and all of its children', async () => {
    const { mapping, batches } = startTestMapping({ stream: splitStream() });
    await mapping.whenIdle();
    expect(batches().toSorted()).toEqual(['a b', 'c', 'd']);
    expect(mapping.stats().shardsFinished).toBe(1);
  });

  it('finds children of a split that happens while it runs, and reads them from their beginning', async () => {
    const stream = streamOf('a');
    const { mapping, batches } = startTestMapping({
      stream,
      settings: { startingPosition: { kind: 'latest' } },
      nowMs: () => 2_000,
    });
    await mapping.whenIdle();
    stream.reshard(['s1'], 's2', 's3');
    stream.put('s2', 'b');
    stream.put('s3', 'c');
    await mapping.whenIdle();
    stream.reshard(['s2', 's3'], 's4');
    stream.put('s4', 'd');
    await mapping.whenIdle();
    expect(batches().slice(0, 2).toSorted()).toEqual(['b', 'c']);
    expect(batches().slice(2)).toEqual(['d']);
    expect(mapping.stats()).toMatchObject({ splitsSeen: 3, shardsFinished: 3 });
  });

  it('lets children wait for a parent that fails, unless chaos starts them first', async () => {
    for (const childFirst of [0, 1]) {
      const run = startTestMapping({
        stream: splitStream(),
        chaos: { childFirst },
        handle: ({ shardId }, number) => (shardId === 's1' && number < 10 ? failure() : success()),
      });
      await run.mapping.whenIdle();
      const shards = run.deliveries.map(({ shardId }) => shardId);
      const isChildBeforeParentsEnd = shards.indexOf('s2') < shards.lastIndexOf('s1');
      expect(isChildBeforeParentsEnd).toBe(childFirst === 1);
      expect(run.chaos.counts().childFirst).toBe(childFirst === 1 ? 2 : 0);
    }
  });

  it('promises neither order of parents and children', async () => {
    const orders = new Set<boolean>();
    for (let seed = 1; seed <= 12; seed += 1) {
      const { mapping, deliveries } = startTestMapping({
        stream: splitStream(),
        seed,
        handle: ({ shardId }, number) => (shardId === 's1' && number < 6 ? failure() : success()),
      });
      await mapping.whenIdle();
      const shards = deliveries.map(({ shardId }) => shardId);
      orders.add(shards.indexOf('s2') < shards.lastIndexOf('s1'));
    }
    expect(orders).toEqual(new Set([true, false]));
  });
});

describe('pausing and restarting', () => {
  it('takes nothing while it is paused', async () => {
    const stream = streamOf('a');
    const { mapping, batches } = startTestMapping({ stream });
    await mapping.whenIdle();
    mapping.pause();
    stream.put('s1', 'b');
    await expect(mapping.whenIdle()).rejects.toThrow('paused or stopped; resume it first');
    expect(mapping.isIdle()).toBe(false);
    expect(batches()).toEqual(['a']);
    mapping.resume();
    await mapping.whenIdle();
    expect(batches().at(-1)).toMatch(/b$/);
  });

  it('is created paused when it is not enabled', async () => {
    const { mapping, batches } = startTestMapping({
      stream: streamOf('a'),
      settings: { isEnabled: false },
    });
    expect(mapping.isIdle()).toBe(false);
    mapping.resume();
    await mapping.whenIdle();
    expect(batches()).toEqual(['a']);
  });

  it('goes back to a persisted position at a restart and loses nothing', async () => {
    let redelivered = 0;
    for (let seed = 1; seed <= 8; seed += 1) {
      const stream = streamOf('a', 'b', 'c', 'd', 'e', 'f');
      const { mapping, batches } = startTestMapping({ stream, seed, settings: { batchSize: 1 } });
      await mapping.whenIdle();
      mapping.restart();
      stream.put('s1', 'g');
      await mapping.whenIdle();
      const again = batches().slice(6);
      expect(['d e f g', 'e f g', 'f g', 'g']).toContain(again.join(' '));
      expect(mapping.stats()).toMatchObject({ restarts: 1, redeliveries: again.length - 1 });
      redelivered += again.length - 1;
    }
    expect(redelivered).toBeGreaterThan(0);
  });

  it('keeps the result of an invocation that ran at the restart', async () => {
    const stream = streamOf('a', 'b');
    const gate = Promise.withResolvers<undefined>();
    const { mapping, deliveries } = startTestMapping({
      stream,
      settings: { batchSize: 1 },
      async handle(_delivery, number) {
        if (number === 1) await gate.promise;
        return success();
      },
    });
    await pollUntilTrue('the first batch', () => deliveries.length === 1);
    mapping.restart();
    gate.resolve(undefined);
    await mapping.whenIdle();
    expect(deliveries.at(-1)?.ids).toEqual(['b']);
  });

  it('may be stopped twice and never delivers again', async () => {
    const stream = streamOf('a');
    const { mapping, batches } = startTestMapping({ stream });
    await mapping.whenIdle();
    await Promise.all([mapping.stop(), mapping.stop()]);
    stream.put('s1', 'b');
    mapping.resume();
    await expect(mapping.whenIdle()).rejects.toThrow('paused or stopped');
    expect(batches()).toEqual(['a']);
  });

  it('says what hangs when it does not become idle', async () => {
    const { mapping } = startTestMapping({ stream: streamOf('a'), handle: () => failure() });
    await expect(mapping.whenIdle({ timeoutMs: 20 })).rejects.toThrow('not idle after 20 ms');
  });
});
