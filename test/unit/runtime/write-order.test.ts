import { describe, expect, it } from 'vitest';
import type { Sink } from '../../../shared/ports/sink.ts';
import { createJob, type Job } from './job-fixture.ts';
import { createMortalEnvironment, type MortalEnvironment } from './mortal-environment.ts';

type Write = 'spill' | 'state' | 'segment' | 'output' | 'progress';

/** The ports of a job with a callback before and after each write of a unit. */
const watchWrites = (job: Job, onWrite: (write: Write, moment: 'begins' | 'ends') => void) => {
  const watch = async <T>(write: Write, effect: () => Promise<T>): Promise<T> => {
    onWrite(write, 'begins');
    const result = await effect();
    // Later than anything that does not wait for this write.
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
    onWrite(write, 'ends');
    return result;
  };
  const watchSink = (sink: Sink): Sink => ({
    write: (source, rows) => watch('output', () => sink.write(source, rows)),
  });
  return {
    state: {
      ...job.state,
      write: (...args: Parameters<typeof job.state.write>) =>
        watch('state', () => job.state.write(...args)),
    },
    objects: {
      ...job.objects,
      create: (name: string, bytes: Uint8Array) =>
        watch(name.endsWith('.seg') ? 'segment' : 'spill', () => job.objects.create(name, bytes)),
    },
    control: {
      ...job.control,
      commitProgress: (...args: Parameters<typeof job.control.commitProgress>) =>
        watch('progress', () => job.control.commitProgress(...args)),
    },
    sinks: new Map([...job.sinks].map(([name, sink]) => [name, watchSink(sink)])),
  };
};

describe('the writes of a unit', () => {
  it('come in the order spill, state, outputs beside segment, progress, each acknowledged first', async () => {
    const job = await createJob();
    job.put('ann', { amount: 1, outputCharacters: 70_000 });
    const trace: string[] = [];
    const ports = watchWrites(job, (write, moment) => trace.push(`${write} ${moment}`));
    await job.createEnvironment(ports).deliver();
    expect(trace.slice(0, 4)).toEqual(['spill begins', 'spill ends', 'state begins', 'state ends']);
    expect(trace.slice(4, -2).toSorted()).toEqual([
      'output begins',
      'output begins',
      'output ends',
      'output ends',
      'segment begins',
      'segment ends',
    ]);
    expect(trace.slice(-2)).toEqual(['progress begins', 'progress ends']);
  });

  it('of the next unit begin after this unit’s progress', async () => {
    const job = await createJob({ settings: { unitRecordsMax: 1 } });
    job.put('ann', { amount: 1 });
    job.put('bob', { amount: 2 });
    const trace: string[] = [];
    const ports = watchWrites(job, (write, moment) => trace.push(`${write} ${moment}`));
    await job.createEnvironment(ports).deliver();
    const firstProgress = trace.indexOf('progress ends');
    const states = trace.flatMap((line, at) => (line === 'state begins' ? [at] : []));
    expect(states).toHaveLength(2);
    expect(states[0]!).toBeLessThan(firstProgress);
    expect(states[1]!).toBeGreaterThan(firstProgress);
  });
});

describe('a death at any write of a unit', () => {
  const points = (['spill', 'state', 'segment', 'output', 'progress'] as const).flatMap((write) => [
    { write, moment: 'begins' as const },
    { write, moment: 'ends' as const },
  ]);

  it.each(points)('when its $write $moment changes nothing in the end', async (point) => {
    const job = await createJob();
    job.put('ann', { amount: 1, outputCharacters: 70_000 });
    job.put('bob', { amount: 10 });
    job.put('ann', { amount: 2 });
    let deaths = 0;
    const ports = watchWrites(job, (write, moment) => {
      if (write !== point.write || moment !== point.moment) return;
      deaths += 1;
      mortal.die();
    });
    const mortal: MortalEnvironment = createMortalEnvironment(job, ports);
    expect(await mortal.deliver(job.records())).toBe('died');
    expect(deaths).toBeGreaterThan(0);
    expect(await job.createEnvironment().deliver()).toMatchObject({ kind: 'done' });
    expect(job.entriesOf('ann')).toEqual([1, 3]);
    expect(job.entriesOf('bob')).toEqual([10]);
    expect(job.totals()).toEqual({ ann: 3, bob: 10 });
    expect(job.statesOf('ann')).toMatchObject({ total: 3 });
    expect(job.progress()).toMatchObject({
      position: { sequence: job.records()[2]!.sequence },
      aheadMax: undefined,
    });
  });
});
