import { describe, expect, it } from 'vitest';
import {
  channelPrefix,
  jobMarkerName,
  segmentName,
  spillName,
} from '../../../shared/runtime/object-names.ts';

const channel = 'tally/events@5/shardId-000000000000';

// These names are a contract: objects stay where they were written.
describe('the names of objects', () => {
  it('are those that they have always been', () => {
    expect(jobMarkerName('demo')).toBe('jobs/demo/job.json');
    expect(segmentName('demo', 3, channel, { number: 42, attempt: 'abc' })).toBe(
      'jobs/demo/generations/00000003/segments/tally/events@5/shardId-000000000000/000000000042-abc.seg',
    );
    expect(spillName('demo', 3, channel, 'abc')).toBe(
      'jobs/demo/generations/00000003/emissions/tally/events@5/shardId-000000000000/abc',
    );
  });

  it('list the segments of a channel in the order of their numbers', () => {
    const names = [9, 10, 100, 99].map((number) =>
      segmentName('demo', 1, channel, { number, attempt: 'a' }),
    );
    const [nine, ten, hundred, ninetyNine] = names;
    expect(names.toSorted()).toEqual([nine, ten, ninetyNine, hundred]);
    for (const name of names) {
      expect(name.startsWith(`${channelPrefix('demo', 1, channel)}/`)).toBe(true);
    }
  });

  it('refuse a number that would break the order', () => {
    expect(() => segmentName('demo', 1, channel, { number: 10 ** 12, attempt: 'a' })).toThrow(
      'number 1000000000000 has more than 12 digits',
    );
    expect(() => spillName('demo', 10 ** 8, channel, 'a')).toThrow(/more than 8 digits/);
  });
});
