import { beforeAll, describe, expect, it } from 'vitest';

import type { Position } from '../../shared/core/position.ts';
import type { Birth, ControlStore, Job } from '../../shared/ports/control-store.ts';
import { makeChannel, makeHold, makeJob, makeProgress } from './control-store.contract.ts';

const position: Position = {
  sequence: '49590338271490256608559692538361571095921575989136588898',
  sub: 3,
};

/** What a hold and a restore ask of a control store: fences, births under a hold, progress that is loaded (R2, R5, P9). */
export function describeFences(name: string, open: () => Promise<ControlStore>): void {
  describe(`fences: ${name}`, () => {
    let store: ControlStore;
    const channel = makeChannel();

    beforeAll(async () => {
      store = await open();
    });

    const startJob = async (overrides: Partial<Job> = {}): Promise<Job> =>
      store.createJob(makeJob(overrides));

    const bear = (job: string, overrides: Partial<Birth> = {}) =>
      store.bear({ job, channel, progress: makeProgress(), finishedParentIds: [], ...overrides });

    describe('job under a hold', () => {
      it('comes back with hold and timeline', async () => {
        const job = await startJob();
        const held: Job = {
          ...job,
          version: 2,
          generation: 7,
          hold: makeHold('h1', { isFlipped: true, undo: 'jobs/flights/undo/1/2.json' }),
          timeline: [
            { generation: 4, parent: 1, manifest: 'jobs/flights/checkpoints/1/8.json' },
            { generation: 7, parent: 4, manifest: 'jobs/flights/savepoints/eve/manifest.json' },
          ],
        };
        expect(await store.replaceJob(held, 1)).toBe('committed');
        expect(await store.readJob(job.name)).toEqual(held);
      });

      it('has no hold any more once it was replaced without one', async () => {
        const job = await startJob({ hold: makeHold('h1') });
        await store.replaceJob({ ...job, version: 2, hold: undefined }, 1);
        expect((await store.readJob(job.name))?.hold).toBeUndefined();
        expect(await bear(job.name)).toBe('born');
      });
    });

    describe('fence', () => {
      it('keeps all of progress but the version, and comes back with the held position', async () => {
        const { name: job } = await startJob();
        await bear(job);
        const committed = makeProgress({
          version: 11,
          position,
          aheadMax: { ...position, sub: 4 },
          head: { number: 3, attempt: 'a1', bytes: 70, crc: 9 },
          watermarks: { event: 1, arrival: 2 },
          floors: [{ range: makeProgress().range, watermarks: { event: 5, arrival: 6 } }],
          firing: 'none',
          timeRules: 'event time 1',
        });
        await store.commitProgress(job, channel, committed, undefined);
        const fenced = { ...committed, version: 12, fence: 'h1' };
        expect(await store.fenceProgress(job, 1, channel, 'h1')).toEqual(fenced);
        expect(await store.readProgress(job, 1, channel)).toEqual(fenced);
      });

      it('is put over another one, and over itself', async () => {
        const { name: job } = await startJob();
        await bear(job);
        await store.fenceProgress(job, 1, channel, 'h1');
        expect(await store.fenceProgress(job, 1, channel, 'h2')).toEqual(
          makeProgress({ version: 12, fence: 'h2' }),
        );
        expect(await store.fenceProgress(job, 1, channel, 'h2')).toEqual(
          makeProgress({ version: 13, fence: 'h2' }),
        );
      });

      it('creates nothing where the channel has no progress', async () => {
        const { name: job } = await startJob();
        await bear(job, { channel: makeChannel({ operator: 'totals' }) });
        expect(await store.fenceProgress(job, 1, channel, 'h1')).toBeUndefined();
        expect(await store.fenceProgress(job, 2, makeChannel({ operator: 'totals' }), 'h1')).toBe(
          undefined,
        );
        expect(await store.readProgress(job, 1, channel)).toBeUndefined();
        expect(await bear(job)).toBe('born');
        expect((await store.readProgress(job, 1, channel))?.fence).toBeUndefined();
      });

      it('makes a commit lose that was prepared before it', async () => {
        const { name: job } = await startJob();
        await bear(job);
        await store.fenceProgress(job, 1, channel, 'h1');
        const late = makeProgress({ version: 11, position });
        expect(await store.commitProgress(job, channel, late, undefined)).toBe('conflict');
        expect((await store.readProgress(job, 1, channel))?.position).toBeUndefined();
      });

      it('stays with commits that keep it, and goes with one that does not', async () => {
        const { name: job } = await startJob();
        await bear(job);
        await store.fenceProgress(job, 1, channel, 'h1');
        const kept = makeProgress({ version: 12, position, fence: 'h1' });
        expect(await store.commitProgress(job, channel, kept, undefined)).toBe('committed');
        expect(await store.readProgress(job, 1, channel)).toEqual(kept);
        const cleared = { ...kept, version: 13, fence: undefined };
        expect(await store.commitProgress(job, channel, cleared, position)).toBe('committed');
        expect(await store.readProgress(job, 1, channel)).toEqual(cleared);
      });

      it('loses to no commit and no commit to it: of racers each has its own version', async () => {
        const { name: job } = await startJob();
        await bear(job);
        const next = makeProgress({ version: 11, position });
        const [outcome, ...fenced] = await Promise.all([
          store.commitProgress(job, channel, next, undefined),
          ...['h1', 'h2', 'h3'].map((id) => store.fenceProgress(job, 1, channel, id)),
        ]);
        const versions = fenced.map((progress) => progress?.version);
        const first = outcome === 'committed' ? 12 : 11;
        expect(versions.toSorted()).toEqual([first, first + 1, first + 2]);
        const last = await store.readProgress(job, 1, channel);
        expect(last?.position).toEqual(outcome === 'committed' ? position : undefined);
        expect(last?.fence).toBe(`h${versions.indexOf(first + 2) + 1}`);
      });
    });

    describe('birth under a hold', () => {
      const fenced = makeProgress({ fence: 'h1' });

      it('is granted to the hold that the job has, and carries its fence', async () => {
        const { name: job } = await startJob({ hold: makeHold('h1') });
        expect(await bear(job, { progress: fenced, hold: 'h1' })).toBe('born');
        expect(await store.readProgress(job, 1, channel)).toEqual(fenced);
        expect(await store.listChannels(job, 1)).toEqual([channel]);
      });

      it('is granted where the job has no hold any more', async () => {
        const { name: job } = await startJob();
        expect(await bear(job, { progress: fenced, hold: 'h1' })).toBe('born');
      });

      it.each([
        ['of another hold', { hold: 'h2' }],
        ['without a hold', {}],
        [
          'of that hold in another generation',
          { hold: 'h1', progress: makeProgress({ generation: 2 }) },
        ],
      ])('is refused %s', async (_, overrides) => {
        const { name: job } = await startJob({ hold: makeHold('h1') });
        expect(await bear(job, overrides)).toBe('job-changed');
        for (const generation of [1, 2]) {
          expect(await store.readProgress(job, generation, channel)).toBeUndefined();
          expect(await store.listChannels(job, generation)).toEqual([]);
        }
      });

      it('waits for parents and happens once like any other', async () => {
        const { name: job } = await startJob({ hold: makeHold('h1') });
        const child = makeChannel({ shardId: 'shardId-000000000009' });
        const birth = { progress: fenced, hold: 'h1' };
        const finishedParentIds = [channel.shardId];
        const bearChild = () => bear(job, { ...birth, channel: child, finishedParentIds });
        expect(await bearChild()).toBe('parents-unfinished');
        await bear(job, { ...birth, progress: { ...fenced, isFinished: true } });
        expect(await bearChild()).toBe('born');
        expect(await bearChild()).toBe('exists');
      });
    });

    describe('progress of a restored channel', () => {
      const loaded = makeProgress({ generation: 9, version: 40, position, fence: 'h1' });

      it('is created as given and listed, whatever the job item says', async () => {
        const { name: job } = await startJob({ hold: makeHold('h2') });
        expect(await store.createProgress(job, channel, loaded)).toBe('created');
        expect(await store.readProgress(job, 9, channel)).toEqual(loaded);
        expect(await store.listChannels(job, 9)).toEqual([channel]);
        expect(await store.listChannels(job, 1)).toEqual([]);
      });

      it('stays where a late twin comes, and is listed once', async () => {
        const { name: job } = await startJob();
        await store.createProgress(job, channel, loaded);
        const moved = { ...loaded, version: 41, position: { ...position, sub: 9 } };
        await store.commitProgress(job, channel, moved, position);
        expect(await store.createProgress(job, channel, loaded)).toBe('exists');
        expect(await store.readProgress(job, 9, channel)).toEqual(moved);
        expect(await store.listChannels(job, 9)).toEqual([channel]);
      });

      it('is created by exactly one of several', async () => {
        const { name: job } = await startJob();
        const outcomes = await Promise.all(
          Array.from({ length: 8 }, (_, at) =>
            store.createProgress(job, channel, { ...loaded, attempt: `a${at}` }),
          ),
        );
        expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(1);
        const progress = await store.readProgress(job, 9, channel);
        expect(progress?.attempt).toBe(`a${outcomes.indexOf('created')}`);
      });

      it('can be fenced, and is a parent like any other', async () => {
        const { name: job } = await startJob({ generation: 9 });
        await store.createProgress(job, channel, { ...loaded, isFinished: true });
        expect(await store.fenceProgress(job, 9, channel, 'h2')).toMatchObject({ version: 41 });
        const child = makeChannel({ shardId: 'shardId-000000000009' });
        const progress = makeProgress({ generation: 9 });
        const finishedParentIds = [channel.shardId];
        expect(await bear(job, { channel: child, progress, finishedParentIds })).toBe('born');
        expect(await bear(job, { progress })).toBe('exists');
      });
    });
  });
}
