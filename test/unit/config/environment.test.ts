import { describe, expect, it } from 'vitest';
import {
  ConfigurationError,
  readEnvironment,
  readRegistrarEnvironment,
  writeEnvironment,
  writeRegistrarEnvironment,
} from '../../../shared/config/environment.ts';

const VARIABLES = {
  HOLDFAST_JOB: 'flight-delays',
  HOLDFAST_OPERATOR: 'delays',
  HOLDFAST_STREAM_ARN: 'arn:aws:kinesis:eu-central-1:123456789012:stream/flights',
  HOLDFAST_STATE_TABLE: 'state-table',
  HOLDFAST_CONTROL_TABLE: 'control-table',
  HOLDFAST_DEAD_LETTER_TABLE: 'dead-letter-table',
  HOLDFAST_BUCKET: 'checkpoint-bucket',
  HOLDFAST_MAX_PARALLELISM: '128',
  HOLDFAST_SINKS: '{"airports":"airports-table","alerts":"alerts-table"}',
  HOLDFAST_RETENTION_HOURS: '48',
};

function refusal(read: () => unknown): ConfigurationError {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('readEnvironment', () => {
  it('reads every variable of an operator function', () => {
    expect(readEnvironment(VARIABLES)).toEqual({
      job: 'flight-delays',
      operator: 'delays',
      streamArn: 'arn:aws:kinesis:eu-central-1:123456789012:stream/flights',
      stateTable: 'state-table',
      controlTable: 'control-table',
      deadLetterTable: 'dead-letter-table',
      bucket: 'checkpoint-bucket',
      maxParallelism: 128,
      sinks: new Map([
        ['airports', 'airports-table'],
        ['alerts', 'alerts-table'],
      ]),
      retentionHours: 48,
    });
  });

  it('takes a day of retention when none is given', () => {
    const { HOLDFAST_RETENTION_HOURS: _, ...others } = VARIABLES;
    expect(readEnvironment(others).retentionHours).toBe(24);
  });

  it('reads what becomes of calls that are not deterministic, where somebody has set it', () => {
    const strict = { ...VARIABLES, HOLDFAST_DETERMINISM: 'strict' };
    expect(readEnvironment(strict).determinism).toBe('strict');
    expect(readEnvironment({ ...strict, HOLDFAST_DETERMINISM: 'count' }).determinism).toBe('count');
    expect(readEnvironment(VARIABLES)).not.toHaveProperty('determinism');
    expect(writeEnvironment(readEnvironment(strict))).toEqual(strict);
  });

  it('says how to correct a variable that no deployment writes', () => {
    const { problems } = refusal(() =>
      readEnvironment({ ...VARIABLES, HOLDFAST_DETERMINISM: 'throw' }),
    );
    expect(problems).toEqual([
      {
        name: 'HOLDFAST_DETERMINISM',
        got: '"throw"',
        expected: 'count or strict',
        remedy: 'correct it, or remove it: then the code decides',
      },
    ]);
  });

  it('reads an operator without sinks', () => {
    expect(readEnvironment({ ...VARIABLES, HOLDFAST_SINKS: '{}' }).sinks.size).toBe(0);
  });

  it('reads what writeEnvironment writes', () => {
    const environment = readEnvironment(VARIABLES);
    expect(readEnvironment(writeEnvironment(environment))).toEqual(environment);
    expect(writeEnvironment(environment)).toEqual(VARIABLES);
  });

  it('names every missing variable at once', () => {
    const { problems } = refusal(() => readEnvironment({}));
    expect(problems.map(({ name }) => name)).toEqual(
      Object.keys(VARIABLES).filter((name) => name !== 'HOLDFAST_RETENTION_HOURS'),
    );
    expect(new Set(problems.map(({ got }) => got))).toEqual(new Set(['nothing']));
  });

  it('says value, rule and remedy', () => {
    const error = refusal(() => readEnvironment({ ...VARIABLES, HOLDFAST_MAX_PARALLELISM: '100' }));
    expect(error.kind).toBe('invalid');
    expect(error.message).toBe(
      'environment of an operator function: one problem\n' +
        '  - HOLDFAST_MAX_PARALLELISM: got "100", expected a power of two from 1 to 32768 (key groups are equal ranges of the key hash); ' +
        'these variables are written by the StreamJob construct: deploy again and do not edit them by hand',
    );
  });

  it.each([
    ['HOLDFAST_JOB', 'Flight_Delays'],
    ['HOLDFAST_JOB', ''],
    ['HOLDFAST_OPERATOR', '1st'],
    ['HOLDFAST_STREAM_ARN', 'flights'],
    [
      'HOLDFAST_STREAM_ARN',
      'arn:aws:kinesis:eu-central-1:123456789012:stream/flights/consumer/c:1',
    ],
    ['HOLDFAST_STATE_TABLE', 'a table'],
    ['HOLDFAST_CONTROL_TABLE', 'ct'],
    ['HOLDFAST_DEAD_LETTER_TABLE', ''],
    ['HOLDFAST_BUCKET', 'Bucket'],
    ['HOLDFAST_MAX_PARALLELISM', '65536'],
    ['HOLDFAST_MAX_PARALLELISM', '1e2'],
    ['HOLDFAST_MAX_PARALLELISM', ''],
    ['HOLDFAST_SINKS', ''],
    ['HOLDFAST_SINKS', '["airports"]'],
    ['HOLDFAST_SINKS', 'null'],
    ['HOLDFAST_SINKS', '{"airports":1}'],
    ['HOLDFAST_SINKS', '{"Airports":"airports-table"}'],
    ['HOLDFAST_RETENTION_HOURS', '23'],
    ['HOLDFAST_RETENTION_HOURS', '1.5'],
  ])('refuses %s=%j', (name, value) => {
    const { problems } = refusal(() => readEnvironment({ ...VARIABLES, [name]: value }));
    expect(problems.map((problem) => problem.name)).toEqual([name]);
    expect(problems[0]?.got).toBe(JSON.stringify(value));
  });

  it('shortens a value that is too long to show', () => {
    const { problems } = refusal(() =>
      readEnvironment({ ...VARIABLES, HOLDFAST_JOB: 'x'.repeat(5_000) }),
    );
    expect(problems[0]?.got.length).toBeLessThan(200);
  });
});

describe('readRegistrarEnvironment', () => {
  it('reads what writeRegistrarEnvironment writes', () => {
    const environment = { controlTable: 'control-table', bucket: 'checkpoint-bucket' };
    expect(readRegistrarEnvironment(writeRegistrarEnvironment(environment))).toEqual(environment);
  });

  it('names every missing variable at once', () => {
    const { problems, message } = refusal(() => readRegistrarEnvironment({}));
    expect(problems.map(({ name }) => name)).toEqual(['HOLDFAST_CONTROL_TABLE', 'HOLDFAST_BUCKET']);
    expect(message).toContain('environment of the job registrar: 2 problems');
  });
});
