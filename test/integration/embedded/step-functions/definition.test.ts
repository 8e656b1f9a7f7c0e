import { describe, expect, it } from 'vitest';

import { arnOf, createMachine, only } from './memory-machine.ts';

function problemsOf(definition: object): string {
  try {
    createMachine(definition, { functions: { work: () => 1 } });
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

const task = { Type: 'Task', Resource: arnOf('work') };
const pass = { Type: 'Pass', End: true };

describe('a definition', () => {
  it.for([
    [
      'another type',
      { Type: 'Parallel' },
      'state "Only": states of type "Parallel" are not supported locally (known here: Pass, Task, Choice, Wait, Map, Succeed, Fail)',
    ],
    [
      'an unknown field',
      { Type: 'Pass', Assign: { x: 1 } },
      'state "Only": field "Assign" is not supported locally (known here: Type, ',
    ],
    [
      'JSONata',
      { Type: 'Pass', QueryLanguage: 'JSONata' },
      'state "Only": field "QueryLanguage" is "JSONata", expected "JSONPath"',
    ],
    [
      'a field of another type',
      { ...task, InputPath: 5 },
      'state "Only": field "InputPath" is 5, expected a text',
    ],
    [
      'a filter in a path',
      { ...task, InputPath: '$.a[?(@.b==1)]' },
      'state "Only": field "InputPath": path "$.a[?(@.b==1)]" has "[?(@.b==1)]", expected .name',
    ],
    [
      'a path for many places to write to',
      { ...task, ResultPath: '$.a[*]' },
      'points to more than one place',
    ],
    [
      'an unknown function',
      { Type: 'Pass', Parameters: { 'a.$': 'States.Sum(1)' } },
      'function States.Sum is not supported locally',
    ],
    [
      'too few arguments',
      { Type: 'Pass', Parameters: { 'a.$': 'States.MathAdd(1)' } },
      'States.MathAdd has 1 arguments, expected 2',
    ],
    [
      'half a call',
      { Type: 'Pass', Parameters: { 'a.$': "States.Format('x'" } },
      'expected , or )',
    ],
    [
      'text that is no expression',
      { Type: 'Pass', Parameters: { 'a.$': 'hello' } },
      'expected a path ($…) or a function',
    ],
    [
      'another service',
      { Type: 'Task', Resource: 'arn:aws:states:::sqs:sendMessage' },
      'field "Resource" is "arn:aws:states:::sqs:sendMessage", expected arn:aws:states:::lambda:invoke or the ARN of a function',
    ],
    [
      'a function of another stack',
      { Type: 'Task', Resource: arnOf('other') },
      'expected the ARN of a function of this stack',
    ],
    [
      'an invocation of another function',
      {
        Type: 'Task',
        Resource: 'arn:aws:states:::lambda:invoke',
        Parameters: { FunctionName: 'other' },
      },
      'Parameters.FunctionName "other" is no function of this stack',
    ],
    [
      'an invocation in another way',
      {
        Type: 'Task',
        Resource: 'arn:aws:states:::lambda:invoke',
        Parameters: { FunctionName: 'work', LogType: 'Tail' },
      },
      'Parameters LogType of lambda:invoke are not supported locally',
    ],
    [
      'a token',
      { Type: 'Task', Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken' },
      'state "Only": field "Resource"',
    ],
    [
      'a retrier with an unknown field',
      { ...task, Retry: [{ ErrorEquals: ['A'], Backoff: 1 }] },
      'state "Only": field "Retry[0].Backoff" is not supported locally',
    ],
    [
      'an interval of nothing',
      { ...task, Retry: [{ ErrorEquals: ['A'], IntervalSeconds: 0 }] },
      'field "Retry[0].IntervalSeconds" is 0, expected an integer from 1',
    ],
    [
      'a longest delay below the interval',
      { ...task, Retry: [{ ErrorEquals: ['A'], IntervalSeconds: 9, MaxDelaySeconds: 9 }] },
      'field "Retry[0].MaxDelaySeconds" is 9, expected an integer from 10',
    ],
    ['no error', { ...task, Retry: [{ ErrorEquals: [] }] }, 'ErrorEquals names no error'],
    [
      'everything before something',
      {
        ...task,
        Catch: [
          { ErrorEquals: ['States.ALL'], Next: 'Only' },
          { ErrorEquals: ['A'], Next: 'Only' },
        ],
      },
      'States.ALL must stand alone, and in the last rule',
    ],
    [
      'Retry where nothing is tried',
      { Type: 'Pass', Retry: [] },
      'field "Retry" is not supported locally',
    ],
    [
      'a distributed map',
      {
        Type: 'Map',
        ItemProcessor: {
          ProcessorConfig: { Mode: 'DISTRIBUTED' },
          StartAt: 'In',
          States: { In: pass },
        },
      },
      'field "ItemProcessor.ProcessorConfig.Mode" is "DISTRIBUTED", expected "INLINE"',
    ],
    [
      'batches',
      {
        Type: 'Map',
        ItemBatcher: { MaxItemsPerBatch: 2 },
        ItemProcessor: { StartAt: 'In', States: { In: pass } },
      },
      'field "ItemBatcher" is not supported locally',
    ],
    [
      'a map of the old kind',
      { Type: 'Map', Iterator: { StartAt: 'In', States: { In: pass } } },
      'field "ItemProcessor" is missing',
    ],
    [
      'two states of one name',
      { Type: 'Map', ItemProcessor: { StartAt: 'Only', States: { Only: pass } } },
      'another state has this name',
    ],
    [
      'two times to wait',
      { Type: 'Wait', Seconds: 1, SecondsPath: '$' },
      'exactly one of Seconds, SecondsPath, Timestamp, TimestampPath is expected',
    ],
    [
      'a timestamp that is none',
      { Type: 'Wait', Timestamp: '2025-01-01' },
      'field "Timestamp" is "2025-01-01", expected an RFC 3339 timestamp',
    ],
  ] as const)('with %s is refused', ([, state, expected]) => {
    expect(problemsOf(only(state))).toContain(expected);
  });

  it.for([
    [
      'no start',
      { StartAt: 'Other', States: { A: pass } },
      'state machine StartAt: there is no state "Other"',
    ],
    [
      'a successor that is missing',
      { StartAt: 'A', States: { A: { Type: 'Pass', Next: 'B' } } },
      'state "A": there is no state "B" beside it',
    ],
    [
      'a catcher that leads nowhere',
      only({ ...task, Catch: [{ ErrorEquals: ['A'], Next: 'B' }] }),
      'state "Only": there is no state "B" beside it',
    ],
    [
      'a state that is not reached',
      { StartAt: 'A', States: { A: pass, B: pass } },
      'state "B": nothing leads to it',
    ],
    [
      'both an end and a successor',
      { StartAt: 'A', States: { A: { ...pass, Next: 'A' } } },
      'state "A": exactly one of "Next" and "End": true is expected',
    ],
    [
      'a choice with an end',
      only({ Type: 'Choice', Choices: [] }),
      'state "Only": field "End" is not supported locally',
    ],
    [
      'a rule of two operators',
      {
        StartAt: 'A',
        States: {
          A: {
            Type: 'Choice',
            Choices: [{ Variable: '$', IsNull: true, IsString: true, Next: 'B' }],
          },
          B: pass,
        },
      },
      'a rule has IsNull, IsString, expected And, Or, Not, or Variable with one operator',
    ],
    [
      'a rule that compares with another type',
      {
        StartAt: 'A',
        States: {
          A: { Type: 'Choice', Choices: [{ Variable: '$', NumericEquals: '1', Next: 'B' }] },
          B: pass,
        },
      },
      'field "Choices[0].NumericEquals" is "1", expected a value of its type',
    ],
    [
      'an unknown operator',
      {
        StartAt: 'A',
        States: {
          A: { Type: 'Choice', Choices: [{ Variable: '$', StringLike: 'x', Next: 'B' }] },
          B: pass,
        },
      },
      'field "Choices[0].StringLike" is not supported locally',
    ],
    [
      'another version',
      { Version: '2.0', StartAt: 'A', States: { A: pass } },
      'state machine: field "Version" is "2.0", expected "1.0"',
    ],
    [
      'an unknown field of the machine',
      { Extra: 1, StartAt: 'A', States: { A: pass } },
      'state machine: field "Extra" is not supported locally',
    ],
  ] as const)('with %s is refused', ([, definition, expected]) => {
    expect(problemsOf(definition)).toContain(expected);
  });

  it('is refused with all its problems at once', () => {
    const problems = problemsOf({
      StartAt: 'A',
      States: { A: { Type: 'Pass', X: 1, Next: 'B' }, B: { Type: 'Wait', End: true } },
    });
    expect(problems.split('\n')).toEqual([
      expect.stringContaining('state "A": field "X"'),
      expect.stringContaining('state "B": exactly one of Seconds'),
    ]);
  });

  it('that is no JSON is refused', () => {
    expect(() => createMachine([])).toThrow('the definition is no JSON object');
  });
});
