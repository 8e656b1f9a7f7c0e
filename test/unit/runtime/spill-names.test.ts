import { describe, expect, it } from 'vitest';
import { inlineEmissionBytesMax } from '../../../shared/core/emission.ts';
import { parseObjectName } from '../../../shared/runtime/object-names.ts';
import { createJob, jobName } from './job-fixture.ts';

describe('the name of an object of spilled emissions', () => {
  it('has the number and the attempt of the segment of its unit, from the first unit on', async () => {
    const job = await createJob();
    for (const amount of [1, 2, 3]) {
      job.put('ann', { amount, outputCharacters: inlineEmissionBytesMax + 1000 });
      expect(await job.createEnvironment().deliver()).toMatchObject({ kind: 'done' });
    }
    const names = [...job.objects.objects().keys()];
    const objects = names.map((name) => parseObjectName(jobName, name));
    const segments = objects.filter((object) => object.kind === 'segment');
    const spills = objects.filter((object) => object.kind === 'spill');
    expect(segments.map(({ number }) => number)).toEqual([1, 2, 3]);
    expect(spills.map(({ number }) => number)).toEqual([1, 2, 3]);
    for (const spill of spills) {
      const [segment] = segments.filter(({ number }) => number === spill.number);
      expect(spill.id.startsWith(`${segment!.attempt}-`)).toBe(true);
      expect(spill.channelId).toBe(segment!.channelId);
    }
  });
});
