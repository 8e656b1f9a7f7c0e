import { describe, expect, it } from 'vitest';

import type { JsonValue } from '../../../../localstack/embedded/step-functions/json-value.ts';
import { outputOf, run } from './memory-machine.ts';

const data = {
  text: 'log-2025*.txt',
  number: 5,
  same: 5,
  yes: true,
  nothing: null,
  time: '2025-01-01T12:00:00Z',
  sameTime: '2025-01-01T13:00:00+01:00',
};

async function decide(rule: object, input: JsonValue = data): Promise<unknown> {
  return outputOf(
    {
      StartAt: 'Decide',
      States: {
        Decide: { Type: 'Choice', Choices: [{ ...rule, Next: 'Yes' }], Default: 'No' },
        Yes: { Type: 'Pass', Result: true, End: true },
        No: { Type: 'Pass', Result: false, End: true },
      },
    },
    input,
  );
}

describe('a choice rule', () => {
  it.for([
    [{ Variable: '$.text', StringEquals: 'log-2025*.txt' }, true],
    [{ Variable: '$.text', StringLessThan: 'm' }, true],
    [{ Variable: '$.text', StringGreaterThanEquals: 'm' }, false],
    [{ Variable: '$.text', StringMatches: 'log-*.txt' }, true],
    [{ Variable: '$.text', StringMatches: 'log-2025\\*.txt' }, true],
    [{ Variable: '$.text', StringMatches: 'log-2025\\*' }, false],
    [{ Variable: '$.text', StringMatches: 'log-....*' }, false],
    [{ Variable: '$.number', NumericEquals: 5 }, true],
    [{ Variable: '$.number', NumericLessThan: 5 }, false],
    [{ Variable: '$.number', NumericLessThanEquals: 5 }, true],
    [{ Variable: '$.number', NumericGreaterThan: 4.5 }, true],
    [{ Variable: '$.number', NumericEqualsPath: '$.same' }, true],
    [{ Variable: '$.number', NumericEqualsPath: '$.text' }, false],
    [{ Variable: '$.yes', BooleanEquals: true }, true],
    [{ Variable: '$.yes', BooleanEquals: false }, false],
    [{ Variable: '$.time', TimestampEqualsPath: '$.sameTime' }, true],
    [{ Variable: '$.time', TimestampLessThan: '2025-01-01T12:00:00.001Z' }, true],
    // A value of another type than the operator's.
    [{ Variable: '$.text', NumericEquals: 5 }, false],
    [{ Variable: '$.number', StringEquals: '5' }, false],
    [{ Variable: '$.nothing', IsNull: true }, true],
    [{ Variable: '$.number', IsNull: false }, true],
    [{ Variable: '$.number', IsNumeric: true }, true],
    [{ Variable: '$.text', IsString: false }, false],
    [{ Variable: '$.yes', IsBoolean: true }, true],
    [{ Variable: '$.time', IsTimestamp: true }, true],
    [{ Variable: '$.text', IsTimestamp: true }, false],
    [{ Variable: '$.missing', IsPresent: false }, true],
    [{ Variable: '$.nothing', IsPresent: true }, true],
    [{ Not: { Variable: '$.number', NumericEquals: 5 } }, false],
    [
      {
        Or: [
          { Variable: '$.yes', BooleanEquals: false },
          { Variable: '$.yes', IsNull: false },
        ],
      },
      true,
    ],
    // The second part would fail if it were looked at.
    [
      {
        And: [
          { Variable: '$.missing', IsPresent: true },
          { Variable: '$.missing', NumericEquals: 1 },
        ],
      },
      false,
    ],
  ] as const)('%j is %s', async ([rule, expected]) => {
    expect(await decide(rule)).toBe(expected);
  });

  it('whose variable is missing ends the execution', async () => {
    await expect(decide({ Variable: '$.missing', NumericEquals: 1 })).rejects.toThrow(
      /^FAILED: States.Runtime .*'\$.missing' could not be found/,
    );
  });

  it('that comes first wins, and without any the state fails', async () => {
    const definition = {
      StartAt: 'Decide',
      States: {
        Decide: {
          Type: 'Choice',
          Choices: [
            { Variable: '$', NumericGreaterThan: 10, Next: 'Large' },
            { Variable: '$', NumericGreaterThan: 5, Next: 'Middle' },
          ],
        },
        Large: { Type: 'Pass', Result: 'large', End: true },
        Middle: { Type: 'Pass', Result: 'middle', End: true },
      },
    };
    expect(await outputOf(definition, 11)).toBe('large');
    expect(await outputOf(definition, 6)).toBe('middle');
    expect((await run(definition, 5)).state().error).toBe('States.NoChoiceMatched');
  });
});
