import { describe, expect, it } from 'vitest';
import { isHoldfastError } from '../../../shared/core/errors.ts';
import {
  baseName,
  channelPrefix,
  compactionPrefix,
  completionName,
  generationPrefix,
  jobMarkerName,
  jobPrefix,
  manifestName,
  manifestsPrefix,
  parseObjectName,
  planName,
  reservationName,
  runFileName,
  savepointFileName,
  savepointPrefix,
  segmentName,
  spillName,
  type ManifestPlace,
  type ObjectIdentity,
} from '../../../shared/runtime/object-names.ts';

const channel = 'tally/events@5/shardId-000000000000';
const checkpoint: ManifestPlace = { kind: 'checkpoint', generation: 3, number: 42 };
const undo: ManifestPlace = { kind: 'undo', generation: 3, number: 43 };
const savepoint: ManifestPlace = { kind: 'savepoint', label: 'before-2.0' };

/** Every object that a job can have: what it is, how it is spelled, and its name written out. */
const objects: [ObjectIdentity, string, string][] = [
  [{ kind: 'job-marker' }, jobMarkerName('demo'), 'jobs/demo/job.json'],
  [
    { kind: 'reservation', generation: 3 },
    reservationName('demo', 3),
    'jobs/demo/generations/00000003.json',
  ],
  [
    { kind: 'segment', generation: 3, channelId: channel, number: 42, attempt: 'abc' },
    segmentName('demo', 3, channel, { number: 42, attempt: 'abc' }),
    'jobs/demo/generations/00000003/segments/tally/events@5/shardId-000000000000/000000000042-abc.seg',
  ],
  [
    { kind: 'spill', generation: 3, channelId: channel, number: 42, id: 'abc-0f-9e' },
    spillName('demo', 3, channel, { number: 42, id: 'abc-0f-9e' }),
    'jobs/demo/generations/00000003/emissions/tally/events@5/shardId-000000000000/000000000042-abc-0f-9e',
  ],
  [
    { kind: 'manifest', manifest: checkpoint },
    manifestName('demo', checkpoint),
    'jobs/demo/checkpoints/00000003/000000000042.json',
  ],
  [
    { kind: 'completion', manifest: checkpoint },
    completionName('demo', checkpoint),
    'jobs/demo/checkpoints/00000003/000000000042.done',
  ],
  [
    { kind: 'manifest', manifest: undo },
    manifestName('demo', undo),
    'jobs/demo/undo/00000003/000000000043.json',
  ],
  [
    { kind: 'completion', manifest: undo },
    completionName('demo', undo),
    'jobs/demo/undo/00000003/000000000043.done',
  ],
  [
    { kind: 'manifest', manifest: savepoint },
    manifestName('demo', savepoint),
    'jobs/demo/savepoints/before-2.0/manifest.json',
  ],
  [
    { kind: 'completion', manifest: savepoint },
    completionName('demo', savepoint),
    'jobs/demo/savepoints/before-2.0/done.json',
  ],
  [
    { kind: 'savepoint-file', label: 'before-2.0', file: 7 },
    savepointFileName('demo', 'before-2.0', 7),
    'jobs/demo/savepoints/before-2.0/files/000007.run',
  ],
  [{ kind: 'base', number: 12 }, baseName('demo', 12), 'jobs/demo/bases/000000000012.json'],
  [
    { kind: 'plan', number: 12 },
    planName('demo', 12),
    'jobs/demo/compactions/000000000012/plan.json',
  ],
  [
    { kind: 'run', number: 12, file: 7 },
    runFileName('demo', 12, 7),
    'jobs/demo/compactions/000000000012/000007.run',
  ],
];

// These names are a contract: objects stay where they were written.
describe('the names of objects', () => {
  it.each(objects)('are those that they have always been: %o', (_identity, spelled, name) => {
    expect(spelled).toBe(name);
  });

  it.each(objects)('tell what the object is: %o', (identity, _spelled, name) => {
    expect(parseObjectName('demo', name)).toEqual(identity);
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
    const spill = { number: 1, id: 'a' };
    expect(() => segmentName('demo', 1, channel, { number: 10 ** 12, attempt: 'a' })).toThrow(
      /number 1000000000000 cannot be part of .* at most 12 digits/,
    );
    expect(() => spillName('demo', 10 ** 8, channel, spill)).toThrow(/at most 8 digits/);
    expect(() => runFileName('demo', 1, 10 ** 6)).toThrow(/at most 6 digits/);
  });

  it.each([-1, 1.5, Number.NaN, 1e21])('refuse %d, which is no number of an object', (number) => {
    expect(() => baseName('demo', number)).toThrow(`number ${number} `);
  });

  it.each(['', '.hidden', '..', 'a/b', 'ä', 'a b', 'a'.repeat(101)])(
    'refuse %j as the name of a savepoint, with the rule',
    (label) => {
      let thrown: unknown;
      try {
        manifestName('demo', { kind: 'savepoint', label });
      } catch (error) {
        thrown = error;
      }
      expect(isHoldfastError(thrown, 'invalid')).toBe(true);
      expect(String(thrown)).toContain(`${JSON.stringify(label)} cannot name a savepoint`);
    },
  );
});

describe('the prefixes of objects', () => {
  it('hold what they promise, and nothing of a job or savepoint whose name only begins the same', () => {
    expect(segmentName('demo', 1, channel, { number: 1, attempt: 'a' })).toMatch(
      new RegExp(`^${generationPrefix('demo', 1)}`),
    );
    expect(reservationName('demo', 1).startsWith(generationPrefix('demo', 1))).toBe(false);
    expect(manifestName('demo', checkpoint).startsWith(manifestsPrefix('demo', 'checkpoint'))).toBe(
      true,
    );
    expect(runFileName('demo', 12, 0).startsWith(compactionPrefix('demo', 12))).toBe(true);
    expect(jobMarkerName('demo2').startsWith(jobPrefix('demo'))).toBe(false);
    expect(
      savepointFileName('demo', 'before-2', 0).startsWith(savepointPrefix('demo', 'before')),
    ).toBe(false);
  });
});

describe('a name that nobody here spells', () => {
  it.each([
    'jobs/other/job.json',
    'jobs/demo2/job.json',
    'job.json',
    'jobs/demo/',
    'jobs/demo/job.json.bak',
    'jobs/demo/checkpoints/3/000000000042.json',
    'jobs/demo/checkpoints/00000003/42.json',
    'jobs/demo/checkpoints/00000003/000000000042.json.tmp',
    'jobs/demo/checkpoints/00000003/x/000000000042.json',
    'jobs/demo/savepoints/before-2.0/notes.txt',
    'jobs/demo/savepoints/-/manifest.json',
    'jobs/demo/savepoints/before-2.0/files/7.run',
    'jobs/demo/compactions/000000000012/0000007.run',
    'jobs/demo/generations/00000003/segments/000000000042-abc.seg',
    'jobs/demo/generations/00000003/segments/tally/events@5/shardId-0/42-abc.seg',
    'jobs/demo/generations/00000003/segments/tally/events@5/shardId-0/000000000042-abc.seg\n',
    // The spelling from before spills had the number of their segment.
    'jobs/demo/generations/00000003/emissions/tally/events@5/shardId-0/abc-0f-9e',
  ])('is unknown, so that nothing touches the object: %j', (name) => {
    expect(parseObjectName('demo', name)).toEqual({ kind: 'unknown' });
  });
});
