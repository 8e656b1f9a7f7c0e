import { describe, expect, it } from 'vitest';
import { checkJob, completeJob, type JobDescription } from '../../../shared/config/job.ts';

const OPERATOR = { id: 'delays', entry: 'functions/delays/handler.ts' };

const JOB: JobDescription = {
  jobName: 'flight-delays',
  source: { kind: 'provisioned', shards: 4 },
  operators: [OPERATOR],
};

function problemsOf(description: unknown): string[] {
  return checkJob(description).map(({ code, name }) => `${code} ${name}`);
}

describe('checkJob', () => {
  it('finds nothing wrong with a job of defaults', () => {
    expect(checkJob(JOB)).toEqual([]);
  });

  it('finds nothing wrong at the ends of every range', () => {
    const operator = {
      ...OPERATOR,
      batchSize: 10_000,
      batchingWindowSeconds: 300,
      memorySizeMb: 10_240,
      timeoutSeconds: 900,
      sinks: { airports: 'upsert', alerts: 'append' },
    };
    expect(
      checkJob({
        jobName: 'j'.repeat(63),
        maxParallelism: 32_768,
        source: { kind: 'on-demand', retentionHours: 8_760 },
        operators: [operator],
      }),
    ).toEqual([]);
  });

  it('reports every problem, not just the first', () => {
    const problems = problemsOf({
      jobName: 'Flight Delays',
      maxParallelism: 100,
      source: { kind: 'provisioned', shards: 0, retentionHours: 12 },
      operators: [
        { id: 'a', entry: 'a.ts', batchSize: 20_000, sinks: { Airports: 'upsert', rows: 'file' } },
        { id: 'a', entry: 'a.py', timeoutSeconds: 1_000, memorySizeMb: 64, parallelism: 2 },
      ],
    });
    expect(problems).toEqual([
      'job-name jobName',
      'max-parallelism maxParallelism',
      'shards source.shards',
      'retention source.retentionHours',
      'sink-name operators[0].sinks.Airports',
      'sink-kind operators[0].sinks.rows',
      'batch-size operators[0].batchSize',
      'entry operators[1].entry',
      'memory-size operators[1].memorySizeMb',
      'timeout operators[1].timeoutSeconds',
      'unknown-property operators[1].parallelism',
      'duplicate-operator operators[1].id',
    ]);
  });

  it('says value, rule and remedy', () => {
    const [problem] = checkJob({ ...JOB, operators: [{ ...OPERATOR, batchSize: 10_001 }] });
    expect(problem?.message).toBe(
      'operators[0].batchSize: got 10001, expected a whole number of records from 1 to 10000 ' +
        '(Lambda hands over at most 10,000 records (and 6 MB) at once); choose a value in the range',
    );
  });

  it('refuses two operators with one id', () => {
    expect(problemsOf({ ...JOB, operators: [OPERATOR, OPERATOR] })).toEqual([
      'duplicate-operator operators[1].id',
    ]);
  });

  it('refuses a sink that two operators write to', () => {
    const sinks = { airports: 'upsert' };
    expect(
      problemsOf({
        ...JOB,
        operators: [
          { ...OPERATOR, sinks },
          { ...OPERATOR, id: 'other', sinks },
        ],
      }),
    ).toEqual(['duplicate-sink operators[1].sinks.airports']);
  });

  it('refuses a job without operators', () => {
    expect(problemsOf({ ...JOB, operators: [] })).toEqual(['operator-count operators']);
  });

  it('refuses more operators than a shard can serve', () => {
    const operators = ['a', 'b', 'c', 'd', 'e'].map((id) => ({ ...OPERATOR, id }));
    const [problem] = checkJob({ ...JOB, operators });
    expect(problem?.code).toBe('operator-count');
    expect(problem?.message).toContain('a shard serves five reads a second');
  });

  it('refuses more sinks than the environment of a function can name', () => {
    const sinks = Object.fromEntries(
      ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map((name) => [name, 'append']),
    );
    expect(problemsOf({ ...JOB, operators: [{ ...OPERATOR, sinks }] })).toEqual([
      'sink-count operators[0].sinks',
    ]);
  });

  it('refuses an existing stream whose retention nobody has told', () => {
    expect(problemsOf({ ...JOB, source: { kind: 'existing' } })).toEqual([
      'retention source.retentionHours',
    ]);
  });

  it('refuses a source of a kind that it does not know', () => {
    const [problem] = checkJob({ ...JOB, source: { kind: 'kafka' } });
    expect(problem).toMatchObject({
      code: 'shape',
      name: 'source.kind',
      expected: 'one of "provisioned", "on-demand", "existing"',
    });
  });

  it.each([
    ['parallelizationFactor', 2, 'breaks the order in which a channel commits'],
    ['filters', [{}], 'moves the position of the mapping past our own'],
    ['enhancedFanOut', true, 'takes aggregated records apart'],
    ['startingPosition', 'LATEST', 'LATEST loses what arrives'],
    ['retryAttempts', 3, 'Lambda discards the batch'],
    ['maxRecordAge', 60, 'records that grow too old are discarded'],
    ['bisectBatchOnError', true, 'isolates a poison record by itself'],
    ['tumblingWindow', 60, 'lost when a shard splits'],
    ['onFailure', {}, 'the last resort'],
  ])('refuses %s with its reason', (setting, value, reason) => {
    const problems = checkJob({ ...JOB, operators: [{ ...OPERATOR, [setting]: value }] });
    expect(problems.map(({ code, name }) => ({ code, name }))).toEqual([
      { code: 'refused-setting', name: `operators[0].${setting}` },
    ]);
    expect(problems[0]?.message).toContain(reason);
  });

  it.each([undefined, null, 7, 'job', [], {}, { operators: 'none' }, { operators: [null] }])(
    'has problems, and no exception, for %j',
    (description) => {
      expect(checkJob(description).length).toBeGreaterThan(0);
    },
  );
});

describe('completeJob', () => {
  it('fills every default in', () => {
    expect(completeJob(JOB)).toEqual({
      jobName: 'flight-delays',
      maxParallelism: 128,
      generationRetentionHours: 168,
      checkpointing: {
        intervalSeconds: 60,
        timeoutSeconds: 600,
        minPauseSeconds: 0,
        maxConcurrent: 1,
        tolerableFailures: 0,
        retained: 5,
      },
      source: { kind: 'provisioned', shards: 4, retentionHours: 24 },
      operators: [
        {
          ...OPERATOR,
          sinks: {},
          batchSize: 10_000,
          batchingWindowSeconds: 1,
          memorySizeMb: 1_769,
          timeoutSeconds: 60,
        },
      ],
    });
  });
});
