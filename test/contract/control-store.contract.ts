import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';

import type { Channel } from '../../shared/core/channel.ts';
import { hashKey } from '../../shared/core/key-group.ts';
import { endOfFiring, type FiringStep, type Position } from '../../shared/core/position.ts';
import type { Progress } from '../../shared/core/progress.ts';
import { timerTimeMax } from '../../shared/core/timer.ts';
import { floorsMax, noWatermarks } from '../../shared/core/watermark.ts';
import type {
  Birth,
  ControlStore,
  Hold,
  Job,
  Suspicion,
} from '../../shared/ports/control-store.ts';

const sequence = '49590338271490256608559692538361571095921575989136588898';

const step: FiringStep = {
  keyHash: hashKey('alice'),
  key: 'alice',
  time: 1_735_689_600_000,
  name: 'e:close',
};

export function makeJob(overrides: Partial<Job> = {}): Job {
  return {
    name: `job-${randomUUID()}`,
    version: 1,
    generation: 1,
    status: 'running',
    maxParallelism: 128,
    operators: ['sessions', 'totals'],
    hold: undefined,
    timeline: [],
    ...overrides,
  };
}

export function makeHold(id: string, overrides: Partial<Hold> = {}): Hold {
  return {
    id,
    kind: 'restore',
    owner: 'rollback',
    sinceMs: 1_735_689_600_789,
    isFlipped: false,
    undo: undefined,
    ...overrides,
  };
}

export function makeChannel(overrides: Partial<Channel> = {}): Channel {
  return {
    operator: 'sessions',
    stream: { name: 'Events_v1.raw', createdAtMs: 1_735_689_600_000 },
    shardId: 'shardId-000000000000',
    ...overrides,
  };
}

export function makeProgress(overrides: Partial<Progress> = {}): Progress {
  return {
    generation: 1,
    version: 10,
    position: undefined,
    attempt: 'a0',
    head: undefined,
    aheadMax: undefined,
    isFinished: false,
    range: { from: '0'.repeat(32), to: 'f'.repeat(32) },
    parentIds: [],
    committedAtMs: 1_735_689_600_123,
    checkedAtMs: 1_735_689_600_456,
    watermarks: noWatermarks,
    floors: [],
    firing: undefined,
    earliest: { event: undefined, arrival: undefined },
    timeRules: undefined,
    fence: undefined,
    ...overrides,
  };
}

export function describeControlStore(name: string, open: () => Promise<ControlStore>): void {
  describe(`control store: ${name}`, () => {
    let store: ControlStore;

    beforeAll(async () => {
      store = await open();
    });

    const startJob = async (overrides: Partial<Job> = {}): Promise<Job> =>
      store.createJob(makeJob(overrides));

    const bear = (job: Job, overrides: Partial<Birth> = {}) =>
      store.bear({
        job: job.name,
        channel: makeChannel(),
        progress: makeProgress(),
        finishedParentIds: [],
        ...overrides,
      });

    describe('job', () => {
      it('is undefined before its creation', async () => {
        expect(await store.readJob('nobody')).toBeUndefined();
      });

      it('comes back as it was created', async () => {
        const held = makeJob({ hold: makeHold('h1'), status: 'creating', operators: [] });
        expect(await store.createJob(held)).toEqual(held);
        expect(await store.readJob(held.name)).toEqual(held);
      });

      it.each([{}, { airports: 'upsert', alerts: 'append' } as const])(
        'comes back with its sinks, and with that it has none: %j',
        async (sinks) => {
          const job = await startJob({ sinks });
          expect(await store.readJob(job.name)).toEqual(job);
          expect(await store.replaceJob({ ...job, version: 2, sinks: {} }, 1)).toBe('committed');
          expect((await store.readJob(job.name))?.sinks).toEqual({});
        },
      );

      it('is not created twice: the one that is there comes back', async () => {
        const job = await startJob();
        const other = { ...job, generation: 9, version: 77 };
        expect(await store.createJob(other)).toEqual(job);
        expect(await store.readJob(job.name)).toEqual(job);
      });

      it('is replaced while it has the expected version', async () => {
        const job = await startJob({ hold: makeHold('x') });
        const next = { ...job, version: 2, hold: undefined };
        expect(await store.replaceJob(next, 1)).toBe('committed');
        expect(await store.readJob(job.name)).toEqual(next);
        expect(await store.replaceJob({ ...job, version: 2 }, 1)).toBe('conflict');
        expect(await store.readJob(job.name)).toEqual(next);
      });

      it('is not created by a replacement', async () => {
        const job = makeJob();
        expect(await store.replaceJob({ ...job, version: 2 }, 1)).toBe('conflict');
        expect(await store.readJob(job.name)).toBeUndefined();
      });

      it('is replaced by exactly one of several', async () => {
        const job = await startJob();
        const outcomes = await Promise.all(
          Array.from({ length: 8 }, (_, at) =>
            store.replaceJob({ ...job, version: 2, hold: makeHold(`hold-${at}`) }, 1),
          ),
        );
        expect(outcomes.filter((outcome) => outcome === 'committed')).toHaveLength(1);
        const winner = outcomes.indexOf('committed');
        expect((await store.readJob(job.name))?.hold).toEqual(makeHold(`hold-${winner}`));
      });

      it('does not take a version that does not go up', async () => {
        const job = await startJob();
        await expect(store.replaceJob(job, 1)).rejects.toThrow(/versions only go up/);
      });
    });

    describe('birth of a channel', () => {
      it('writes progress as given and lists the channel', async () => {
        const job = await startJob();
        const progress = makeProgress({ parentIds: ['a', 'b'], fence: 'hold-1' });
        expect(await bear(job, { progress })).toBe('born');
        expect(await store.readProgress(job.name, 1, makeChannel())).toEqual(progress);
        expect(await store.listChannels(job.name, 1)).toEqual([makeChannel()]);
      });

      it('happens once', async () => {
        const job = await startJob();
        await bear(job);
        expect(await bear(job, { progress: makeProgress({ attempt: 'b' }) })).toBe('exists');
        const progress = await store.readProgress(job.name, 1, makeChannel());
        expect(progress?.attempt).toBe('a0');
      });

      it('is given to exactly one of several', async () => {
        const job = await startJob();
        const outcomes = await Promise.all(
          Array.from({ length: 8 }, (_, at) =>
            bear(job, { progress: makeProgress({ attempt: `a${at}` }) }),
          ),
        );
        expect(outcomes.filter((outcome) => outcome === 'born')).toHaveLength(1);
        expect(outcomes.filter((outcome) => outcome === 'exists')).toHaveLength(7);
        const progress = await store.readProgress(job.name, 1, makeChannel());
        expect(progress?.attempt).toBe(`a${outcomes.indexOf('born')}`);
      });

      it.each([
        ['there is no job', undefined],
        ['the job is in another generation', { generation: 2 }],
        ['the job is held', { hold: makeHold('h1') }],
        ['the job is being created', { status: 'creating' }],
      ] as const)('is refused where %s', async (_title, overrides) => {
        const job = overrides === undefined ? makeJob() : await startJob(overrides);
        expect(await bear(job)).toBe('job-changed');
        expect(await store.readProgress(job.name, 1, makeChannel())).toBeUndefined();
        expect(await store.listChannels(job.name, 1)).toEqual([]);
      });

      it('waits until every parent is finished', async () => {
        const job = await startJob();
        const parents = ['shardId-000000000000', 'shardId-000000000001'];
        const child = makeChannel({ shardId: 'shardId-000000000002' });
        const beChild = () => bear(job, { channel: child, finishedParentIds: parents });

        expect(await beChild()).toBe('parents-unfinished');
        for (const shardId of parents) await bear(job, { channel: makeChannel({ shardId }) });
        expect(await beChild()).toBe('parents-unfinished');
        for (const shardId of parents) {
          expect(await beChild()).toBe('parents-unfinished');
          const next = makeProgress({ version: 11, isFinished: true });
          await store.commitProgress(job.name, makeChannel({ shardId }), next, undefined);
        }
        expect(await beChild()).toBe('born');
      });

      it('does not take the parent of another operator, stream or generation', async () => {
        const job = await startJob();
        const channel = makeChannel();
        await bear(job, { channel, progress: makeProgress({ isFinished: true }) });
        const shardId = 'shardId-000000000002';
        const children: Channel[] = [
          { ...channel, operator: 'totals', shardId },
          { ...channel, stream: { ...channel.stream, name: 'other' }, shardId },
          { ...channel, stream: { ...channel.stream, createdAtMs: 1 }, shardId },
        ];
        for (const child of children) {
          const outcome = await bear(job, { channel: child, finishedParentIds: [channel.shardId] });
          expect(outcome).toBe('parents-unfinished');
        }
        await store.replaceJob({ ...job, version: 2, generation: 2 }, 1);
        const progress = makeProgress({ generation: 2 });
        expect(
          await bear(job, {
            channel: { ...channel, shardId },
            progress,
            finishedParentIds: [channel.shardId],
          }),
        ).toBe('parents-unfinished');
      });

      it('says that the job changed before it says anything else', async () => {
        const job = await startJob();
        await bear(job);
        await store.replaceJob({ ...job, version: 2, hold: makeHold('h') }, 1);
        expect(await bear(job, { finishedParentIds: ['shardId-000000000009'] })).toBe(
          'job-changed',
        );
      });

      it('says that progress exists before it speaks of parents', async () => {
        const job = await startJob();
        await bear(job);
        expect(await bear(job, { finishedParentIds: ['shardId-000000000009'] })).toBe('exists');
      });
    });

    describe('progress', () => {
      const first = { sequence, sub: 0 };
      const second = { sequence: `${sequence.slice(0, -1)}9`, sub: 12 };

      it('is undefined before birth', async () => {
        expect(await store.readProgress('nobody', 1, makeChannel())).toBeUndefined();
      });

      it('is replaced as a whole, from one position to the next', async () => {
        const job = await startJob();
        await bear(job);
        const one = makeProgress({
          version: 11,
          position: first,
          attempt: 'a1',
          head: { number: 1, attempt: 'a1', bytes: 12_345, crc: 4_294_967_295 },
          aheadMax: second,
          fence: 'hold-2',
        });
        const two = makeProgress({ version: 12, position: second, attempt: 'a2' });
        expect(await store.commitProgress(job.name, makeChannel(), one, undefined)).toBe(
          'committed',
        );
        expect(await store.readProgress(job.name, 1, makeChannel())).toEqual(one);
        expect(await store.commitProgress(job.name, makeChannel(), two, first)).toBe('committed');
        expect(await store.readProgress(job.name, 1, makeChannel())).toEqual(two);
      });

      it('comes back with all that it says of time', async () => {
        const job = await startJob();
        const born = makeProgress({
          floors: [
            { range: { from: '0'.repeat(32), to: `7${'f'.repeat(31)}` }, watermarks: noWatermarks },
            {
              range: { from: `8${'0'.repeat(31)}`, to: 'f'.repeat(32) },
              watermarks: { event: -5, arrival: undefined },
            },
            {
              range: {
                from: '0123456789abcdef0123456789abcde0',
                to: '0123456789abcdef0123456789abcdff',
              },
              watermarks: { event: undefined, arrival: 1_735_689_600_000 },
            },
            {
              range: { from: 'f'.repeat(32), to: 'f'.repeat(32) },
              watermarks: { event: 1, arrival: 2 },
            },
            {
              range: { from: '0'.repeat(32), to: '0'.repeat(32) },
              watermarks: { event: 0, arrival: 0 },
            },
          ],
        });
        await bear(job, { progress: born });
        expect(await store.readProgress(job.name, 1, makeChannel())).toEqual(born);

        const times = [
          {
            firing: 'none',
            watermarks: { event: 1_735_689_600_000, arrival: 1_735_689_600_123 },
            earliest: { event: 1_735_689_599_999, arrival: 1_735_689_700_000 },
          },
          {
            firing: step,
            watermarks: { event: -timerTimeMax, arrival: undefined },
            floors: born.floors,
          },
          { firing: { ...step, key: 'a.b#c\n☃ 🦊'.repeat(30), time: -1, name: 'a:x' } },
          { firing: endOfFiring, earliest: { event: undefined, arrival: timerTimeMax } },
          {
            watermarks: { event: undefined, arrival: 0 },
            earliest: { event: 0, arrival: undefined },
          },
          {},
        ] satisfies Partial<Progress>[];
        let from: Position | undefined;
        for (const [at, time] of times.entries()) {
          const next = makeProgress({ version: 11 + at, position: { sequence, sub: at }, ...time });
          expect(await store.commitProgress(job.name, makeChannel(), next, from)).toBe('committed');
          expect(await store.readProgress(job.name, 1, makeChannel())).toEqual(next);
          from = next.position;
        }
      });

      it('has room for a floor of every ancestor', async () => {
        const job = await startJob();
        const floors = Array.from({ length: floorsMax }, (_, at) => ({
          range: { from: hashKey(`from ${at}`), to: hashKey(`to ${at}`) },
          watermarks: { event: 1_735_689_600_000 + at, arrival: 1_735_689_600_000 - at },
        }));
        const progress = makeProgress({ floors });
        expect(await bear(job, { progress })).toBe('born');
        expect(await store.readProgress(job.name, 1, makeChannel())).toEqual(progress);
      });

      it('moves between positions behind one record, and from none but the current one', async () => {
        const job = await startJob();
        await bear(job);
        const positions: Position[] = [
          { sequence, sub: 0 },
          { sequence, sub: 0, step },
          { sequence, sub: 0, step: { ...step, time: step.time + 1 } },
          { sequence, sub: 0, step: endOfFiring },
        ];
        let from: Position | undefined;
        for (const [at, position] of positions.entries()) {
          const next = makeProgress({ version: 11 + at, position, aheadMax: position });
          for (const other of positions) {
            if (other === from) continue;
            expect(await store.commitProgress(job.name, makeChannel(), next, other)).toBe(
              'conflict',
            );
          }
          expect(await store.commitProgress(job.name, makeChannel(), next, from)).toBe('committed');
          expect(await store.readProgress(job.name, 1, makeChannel())).toEqual(next);
          from = position;
        }
      });

      it('is not created by a commit', async () => {
        const job = await startJob();
        const next = makeProgress({ version: 1 });
        expect(await store.commitProgress(job.name, makeChannel(), next, undefined)).toBe(
          'conflict',
        );
        expect(await store.readProgress(job.name, 1, makeChannel())).toBeUndefined();
      });

      it('stays where the version, the generation or the position is another one', async () => {
        const job = await startJob();
        await bear(job);
        const one = makeProgress({ version: 11, position: first });
        await store.commitProgress(job.name, makeChannel(), one, undefined);
        const attempts = [
          [{ version: 11 }, first],
          [{ version: 13 }, first],
          [{ version: 12, generation: 2 }, first],
          [{ version: 12 }, undefined],
          [{ version: 12 }, second],
          [{ version: 12 }, { sequence, sub: 1 }],
        ] as const;
        for (const [overrides, from] of attempts) {
          const next = makeProgress({ position: second, ...overrides });
          expect(await store.commitProgress(job.name, makeChannel(), next, from)).toBe('conflict');
        }
        expect(await store.readProgress(job.name, 1, makeChannel())).toEqual(one);
      });

      it('moves for exactly one of several', async () => {
        const job = await startJob();
        await bear(job);
        const outcomes = await Promise.all(
          Array.from({ length: 8 }, (_, at) =>
            store.commitProgress(
              job.name,
              makeChannel(),
              makeProgress({ version: 11, position: first, attempt: `a${at}` }),
              undefined,
            ),
          ),
        );
        expect(outcomes.filter((outcome) => outcome === 'committed')).toHaveLength(1);
        const progress = await store.readProgress(job.name, 1, makeChannel());
        expect(progress?.attempt).toBe(`a${outcomes.indexOf('committed')}`);
      });
    });

    describe('list of channels', () => {
      it('is empty for a generation without channels', async () => {
        const job = await startJob();
        await bear(job);
        expect(await store.listChannels(job.name, 2)).toEqual([]);
      });

      it('names each channel of a generation once, in order of names', async () => {
        const job = await startJob();
        const other = await startJob();
        const channels = ['2', '0', '1'].flatMap((digit) =>
          ['totals', 'sessions'].map((operator) =>
            makeChannel({ operator, shardId: `shardId-00000000000${digit}` }),
          ),
        );
        await bear(other);
        for (const channel of channels) expect(await bear(job, { channel })).toBe('born');
        await bear(job, { channel: channels[0]! });
        const listed = await store.listChannels(job.name, 1);
        expect(listed).toHaveLength(channels.length);
        const name = ({ operator, shardId }: Channel): string => `${operator}/${shardId}`;
        expect(listed.map(name)).toEqual(channels.map(name).sort());
        expect(listed[0]?.stream).toEqual(makeChannel().stream);
      });
    });

    describe('suspicion', () => {
      const makeSuspicion = (overrides: Partial<Suspicion> = {}): Suspicion => ({
        version: 1,
        position: undefined,
        span: 1_000,
        outstanding: ['a1', 'a2'],
        throws: 0,
        reason: undefined,
        ...overrides,
      });

      it('is undefined where nothing is suspected', async () => {
        expect(await store.readSuspicion('nobody', 1, makeChannel())).toBeUndefined();
      });

      it('begins with version 1 and is replaced version by version', async () => {
        const { name: job } = await startJob();
        const channel = makeChannel();
        const first = makeSuspicion();
        const second = makeSuspicion({
          version: 2,
          position: { sequence, sub: 4, step },
          outstanding: [],
          throws: 2,
          reason: 'it threw',
        });
        expect(await store.writeSuspicion(job, 1, channel, first)).toBe('committed');
        expect(await store.readSuspicion(job, 1, channel)).toEqual(first);
        expect(await store.writeSuspicion(job, 1, channel, second)).toBe('committed');
        expect(await store.readSuspicion(job, 1, channel)).toEqual(second);
      });

      it('refuses any other version', async () => {
        const { name: job } = await startJob();
        const channel = makeChannel();
        expect(await store.writeSuspicion(job, 1, channel, makeSuspicion({ version: 2 }))).toBe(
          'conflict',
        );
        await store.writeSuspicion(job, 1, channel, makeSuspicion());
        for (const version of [1, 3]) {
          const next = makeSuspicion({ version, throws: 9 });
          expect(await store.writeSuspicion(job, 1, channel, next)).toBe('conflict');
        }
        expect(await store.readSuspicion(job, 1, channel)).toEqual(makeSuspicion());
      });

      it('is kept for each channel and generation', async () => {
        const { name: job } = await startJob();
        await store.writeSuspicion(job, 1, makeChannel(), makeSuspicion());
        expect(await store.readSuspicion(job, 2, makeChannel())).toBeUndefined();
        expect(
          await store.readSuspicion(job, 1, makeChannel({ operator: 'totals' })),
        ).toBeUndefined();
      });
    });
  });
}
