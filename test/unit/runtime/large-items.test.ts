import { describe, expect, it } from 'vitest';
import {
  inlineEmissionBytesMax,
  rowBytesMax,
  unpackEmissions,
} from '../../../shared/core/emission.ts';
import { crc32c } from '../../../shared/core/crc32c.ts';
import { createJob, deliverUntilDone } from './job-fixture.ts';
import { createMortalEnvironment } from './mortal-environment.ts';
import { observe } from './observe.ts';

const isSpill = (name: string): boolean => name.includes('/emissions/');

describe('an item that would not fit into DynamoDB', () => {
  it('costs the record that made it so, with size, limit and remedy', async () => {
    const job = await createJob();
    job.put('ann', { amount: 1 });
    job.put('bob', { amount: 1 });
    job.put('ann', { amount: 2, stateCharacters: 420_000 });
    job.put('ann', { amount: 3 });
    job.put('bob', { amount: 2 });
    const reasons = await deliverUntilDone(job.createEnvironment(), job.records());
    expect(reasons).toHaveLength(2);
    const { sequence } = job.records()[2]!;
    expect(job.deadLetters()).toMatchObject([
      { key: 'ann', position: { sequence }, reason: 'operator-failed' },
    ]);
    expect(job.deadLetters()[0]!.message).toMatch(
      /^the item of key "ann" would have 42\d{4} bytes, at most 389120 fit into DynamoDB beside its outputs; keep less for each key, or split the key$/,
    );
    expect(job.entriesOf('ann')).toEqual([1, 4]);
    expect(job.entriesOf('bob')).toEqual([1, 3]);
  });

  it('costs the one record that went too far where it grew little by little', async () => {
    const job = await createJob();
    for (let amount = 1; amount <= 5; amount += 1) {
      job.put('ann', { amount, stateCharacters: 120_000 });
    }
    await deliverUntilDone(job.createEnvironment(), job.records());
    const lost = job.deadLetters().map(({ position }) => position.sequence);
    expect(lost).toEqual(
      job
        .records()
        .slice(3)
        .map(({ sequence }) => sequence),
    );
    expect(job.statesOf('ann')).toMatchObject({ total: 6 });
    expect(job.state.rows()[0]!.item.states!.length).toBeGreaterThan(360_000);
  });

  it('costs a record whose state cannot be encoded, too', async () => {
    const job = await createJob();
    const process: typeof job.operator.process = (event, ctx) => {
      const state = ctx.state as { total: { set(value: unknown): void } };
      job.operator.process(event, ctx);
      if ((event as { amount: number }).amount === 2) state.total.set(Symbol('total'));
    };
    const operator = { ...job.operator, process };
    for (const amount of [1, 2, 3]) job.put('ann', { amount });
    const environment = job.createEnvironment({ operator });
    await deliverUntilDone(environment, job.records());
    expect(job.deadLetters()).toMatchObject([
      { message: expect.stringMatching(/^its state cannot be encoded: /) as string },
    ]);
    expect(job.entriesOf('ann')).toEqual([1, 4]);
  });
});

describe('an output that no row can hold', () => {
  it('costs the record that made it so, with its sink, the limit and the remedy', async () => {
    const job = await createJob();
    job.put('ann', { amount: 1 });
    job.put('ann', { amount: 2, outputCharacters: rowBytesMax });
    job.put('ann', { amount: 3 });
    await deliverUntilDone(job.createEnvironment(), job.records());
    expect(job.deadLetters()).toMatchObject([
      {
        position: { sequence: job.records()[1]!.sequence },
        reason: 'operator-failed',
        message: `an output for sink entries has more than ${rowBytesMax} bytes, which no row can hold; emit less, or several rows`,
      },
    ]);
    expect(job.entriesOf('ann')).toEqual([1, 4]);
  });

  it('is not what many outputs make together', async () => {
    const job = await createJob();
    for (const amount of [1, 2, 3]) {
      job.put('ann', { amount, outputCharacters: rowBytesMax - 1000 });
    }
    expect(await job.createEnvironment().deliver()).toMatchObject({ kind: 'done' });
    expect(job.entriesOf('ann')).toEqual([1, 3, 6]);
  });
});

describe('outputs of a key that are too large to stay in its item', () => {
  const large = inlineEmissionBytesMax + 1000;

  it('are spilled to an object before the state that names it is written, and flushed', async () => {
    const job = await createJob();
    job.put('ann', { amount: 1, outputCharacters: large });
    const calls: string[] = [];
    const environment = job.createEnvironment({
      objects: observe('objects', job.objects, calls),
      state: observe('state', job.state, calls),
    });
    expect(await environment.deliver()).toMatchObject({ kind: 'done' });
    // Spill, state, segment.
    expect(calls.filter((call) => /create|write/.test(call))).toEqual([
      'objects.create',
      'state.write',
      'objects.create',
    ]);
    expect(job.entriesOf('ann')).toEqual([1]);

    const { item } = job.state.rows()[0]!;
    const [name, bytes] = [...job.objects.objects()].find(([object]) => isSpill(object))!;
    expect(item.emissions).toBeUndefined();
    expect(item.spills).toEqual([
      { name, bytes: bytes.length, crc: crc32c(bytes), last: item.position },
    ]);
    expect(unpackEmissions(bytes).map(({ sink }) => sink)).toEqual(['entries', 'totals']);
  });

  it('stay in the item up to the bound', async () => {
    const job = await createJob();
    job.put('ann', { amount: 1, outputCharacters: inlineEmissionBytesMax - 1000 });
    await job.createEnvironment().deliver();
    expect([...job.objects.objects().keys()].filter(isSpill)).toEqual([]);
    expect(job.state.rows()[0]!.item.emissions!.length).toBeLessThanOrEqual(inlineEmissionBytesMax);
  });

  it('are flushed from the object by a retry after a death between state and outputs', async () => {
    const { job } = await jobThatDiedBeforeOutputs();
    const outcome = await job.createEnvironment().deliver();
    expect(outcome).toMatchObject({ kind: 'done', counters: { keysWritten: 0 } });
    expect(job.entriesOf('ann')).toEqual([1]);
    expect(job.totals()).toEqual({ ann: 1 });
  });

  it('need their object no more once progress has passed them', async () => {
    const job = await createJob();
    job.put('ann', { amount: 1, outputCharacters: large });
    await job.createEnvironment().deliver();
    job.objects.lose([...job.objects.objects().keys()].find(isSpill)!);
    job.put('ann', { amount: 2 });
    expect(await job.createEnvironment().deliver()).toMatchObject({ kind: 'done' });
    expect(job.entriesOf('ann')).toEqual([1, 3]);
    expect(job.state.rows()[0]!.item.spills).toEqual([]);
  });

  it('stop the channel where their object is gone, instead of being lost', async () => {
    const { job, spill } = await jobThatDiedBeforeOutputs();
    job.objects.lose(spill);
    await expect(job.createEnvironment().deliver()).rejects.toThrow(
      `key "ann" names the emissions object ${spill}, which is not in the bucket; restore from a checkpoint`,
    );
    expect(job.progress()?.position).toBeUndefined();
  });

  it('stop the channel where their object is damaged, instead of being published', async () => {
    const { job, spill } = await jobThatDiedBeforeOutputs();
    const objects = {
      ...job.objects,
      async read(name: string) {
        const bytes = await job.objects.read(name);
        if (name === spill) bytes![1000] = bytes![1000]! ^ 1;
        return bytes;
      },
    };
    await expect(job.createEnvironment({ objects }).deliver()).rejects.toThrow(
      `names the emissions object ${spill}, which is damaged; restore from a checkpoint`,
    );
    expect(job.entriesOf('ann')).toEqual([]);
  });

  /** A large output was spilled, its state was written, and nothing after that. */
  const jobThatDiedBeforeOutputs = async () => {
    const job = await createJob();
    job.put('ann', { amount: 1, outputCharacters: large });
    const dead = createMortalEnvironment(job, {
      state: {
        ...job.state,
        async write(scope, writes) {
          const outcomes = await job.state.write(scope, writes);
          dead.die();
          return outcomes;
        },
      },
    });
    expect(await dead.deliver(job.records())).toBe('died');
    expect(job.entriesOf('ann')).toEqual([]);
    return { job, spill: [...job.objects.objects().keys()].find(isSpill)! };
  };
});
