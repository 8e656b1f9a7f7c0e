import { describe, expect, it } from 'vitest';
import { channelId } from '../../../shared/core/channel.ts';
import { crc32c } from '../../../shared/core/crc32c.ts';
import type { SegmentReference } from '../../../shared/core/progress.ts';
import { chainReferencesMax, decodeSegment } from '../../../shared/core/segment.ts';
import { segmentName } from '../../../shared/runtime/object-names.ts';
import { createJob, jobName, type Job } from './job-fixture.ts';

/** Everything that the head of a channel leads to, newest first, and how many objects had to be read for it (C5). */
const walkChain = (job: Job): { found: SegmentReference[]; reads: number } => {
  const { progress, channel } = job.control.progressRows()[0]!;
  const objects = job.objects.objects();
  const found: SegmentReference[] = [];
  let reads = 0;
  let next = progress.head;
  while (next !== undefined) {
    const name = segmentName(jobName, progress.generation, channelId(channel), next);
    const { header } = decodeSegment(objects.get(name)!, name);
    reads += 1;
    found.push(next, ...header.chain.slice(0, -1));
    if (header.chain.length < chainReferencesMax) {
      found.push(...header.chain.slice(-1));
      return { found, reads };
    }
    next = header.chain.at(-1);
  }
  return { found, reads };
};

const commitUnits = async (units: number, environments: number): Promise<Job> => {
  const job = await createJob({ settings: { unitRecordsMax: 1 } });
  for (let unit = 0; unit < units; unit += 1) job.put(`user-${unit % 5}`, { amount: 1 });
  const size = Math.ceil(units / environments);
  for (let at = 0; at < units; at += size) {
    await job.createEnvironment().deliver(job.records().slice(at, at + size));
  }
  return job;
};

describe('the chain of segments', () => {
  it.each([1, 7])('is found whole from the head, with %i environments writing', async (count) => {
    const job = await commitUnits(200, count);
    const { found, reads } = walkChain(job);
    expect(found.map(({ number }) => number)).toEqual(
      Array.from({ length: 200 }, (_, at) => 200 - at),
    );
    expect(reads).toBeLessThanOrEqual(Math.ceil(200 / chainReferencesMax));
  });

  it('names every object with its true size and checksum', async () => {
    const job = await commitUnits(70, 2);
    const { channel } = job.control.progressRows()[0]!;
    const objects = job.objects.objects();
    for (const reference of walkChain(job).found) {
      const bytes = objects.get(segmentName(jobName, 1, channelId(channel), reference))!;
      expect([bytes.length, crc32c(bytes)]).toEqual([reference.bytes, reference.crc]);
    }
  });

  it('repeats no more references than a header may have', async () => {
    const job = await commitUnits(100, 3);
    for (const [name, bytes] of job.objects.objects()) {
      if (!name.endsWith('.seg')) continue;
      const { header } = decodeSegment(bytes, name);
      expect(header.chain).toHaveLength(Math.min(header.number - 1, chainReferencesMax));
    }
  });

  it('covers the stream without a gap: each segment begins where the one before ended', async () => {
    const job = await commitUnits(20, 3);
    const headers = [...job.objects.objects()]
      .filter(([name]) => name.endsWith('.seg'))
      .map(([name, bytes]) => decodeSegment(bytes, name).header)
      .sort((a, b) => a.number - b.number);
    expect(headers[0]!.from).toBeUndefined();
    for (let at = 1; at < headers.length; at += 1) {
      expect(headers[at]!.from).toEqual(headers[at - 1]!.to);
    }
    expect(headers.at(-1)!.to).toEqual(job.progress()?.position);
  });

  it('stops the channel where the head is gone', async () => {
    const job = await commitUnits(2, 1);
    const head = [...job.objects.objects().keys()].filter((name) => name.endsWith('.seg')).at(-1)!;
    job.objects.lose(head);
    job.put('ann', { amount: 1 });
    await expect(job.createEnvironment().deliver()).rejects.toThrow(
      `segment ${head} was committed, but is not in the bucket`,
    );
  });
});
