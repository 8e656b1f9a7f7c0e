import { describe, expect, it } from 'vitest';

import { arnOf, only, outputOf, run } from './memory-machine.ts';

describe('a path', () => {
  const data = { a: { b: [10, { c: 'x' }], 'od.d': 1 }, list: [{ n: 1 }, { m: 0 }, { n: 3 }] };

  it.for([
    ['$', data],
    ['$.a.b[1].c', 'x'],
    ["$['a']['od.d']", 1],
    ['$["a"].b[0]', 10],
    ['$.list[*].n', [1, 3]],
    ['$.list[*].nothing', []],
    ['$.a.*', [[10, { c: 'x' }], 1]],
  ] as const)('%s reads what it points to', async ([path, expected]) => {
    expect(await outputOf(only({ Type: 'Pass', Parameters: { 'v.$': path } }), data)).toEqual({
      v: expected,
    });
  });

  it('that leads nowhere ends the execution with the state, the path and the input', async () => {
    const execution = await run(only({ Type: 'Pass', InputPath: '$.a.nothing' }), { a: 1 });
    expect(execution.state()).toMatchObject({
      status: 'FAILED',
      error: 'States.Runtime',
      cause:
        "An error occurred while executing the state 'Only' (entered at the event id #2). The JSONPath '$.a.nothing' could not be found in the input '{\"a\":1}'",
    });
  });

  it('does not see what every object inherits', async () => {
    const state = only({ Type: 'Pass', InputPath: '$.constructor' });
    expect((await run(state, {})).state().error).toBe('States.Runtime');
  });
});

describe('the fields of a state', () => {
  it('apply in their order: input, parameters, result selector, result path, output path', async () => {
    const seen: unknown[] = [];
    const definition = only({
      Type: 'Task',
      Resource: arnOf('work'),
      InputPath: '$.in',
      Parameters: { 'taken.$': '$.x', fixed: [{ 'y.$': '$.x' }] },
      ResultSelector: { 'kept.$': '$.answer' },
      ResultPath: '$.out.result',
      OutputPath: '$.out',
    });
    const work = (payload: unknown): unknown => {
      seen.push(payload);
      return { answer: 42, noise: true };
    };
    const input = { in: { x: 7 }, out: { earlier: 1 } };
    expect(await outputOf(definition, input, { functions: { work } })).toEqual({
      earlier: 1,
      result: { kept: 42 },
    });
    expect(seen).toEqual([{ taken: 7, fixed: [{ y: 7 }] }]);
  });

  it.for([
    [{ InputPath: null }, {}],
    [{ OutputPath: null }, {}],
    [{ Result: 1 }, 1],
    [{ Result: null }, null],
    [{ Result: 1, ResultPath: null }, { a: [0] }],
    [{ Result: 1, ResultPath: '$' }, 1],
    [
      { Result: 1, ResultPath: '$.b.c' },
      { a: [0], b: { c: 1 } },
    ],
    [{ Result: 1, ResultPath: '$.a[0]' }, { a: [1] }],
    [
      { InputPath: '$.a', ResultPath: '$.b' },
      { a: [0], b: [0] },
    ],
    [{ Result: 1, ResultPath: '$.__proto__' }, JSON.parse('{"a":[0],"__proto__":1}')],
  ])('%j gives %j', async ([fields, expected]) => {
    const output = await outputOf(only({ Type: 'Pass', ...(fields as object) }), { a: [0] });
    expect(JSON.stringify(output)).toBe(JSON.stringify(expected));
  });

  it.for(['$.a.b', '$.list[2]', '$.list.name'])(
    'fails where ResultPath %s cannot be made',
    async (ResultPath) => {
      const state = only({ Type: 'Pass', Result: 1, ResultPath });
      const execution = await run(state, { a: 'text', list: [1] });
      expect(execution.state().error).toBe('States.ResultPathMatchFailure');
    },
  );

  it('see the context object, of the iteration, too', async () => {
    const definition = {
      StartAt: 'Each',
      States: {
        Each: {
          Type: 'Map',
          ItemsPath: '$.items',
          ItemProcessor: {
            StartAt: 'Look',
            States: {
              Look: {
                Type: 'Pass',
                Parameters: {
                  'id.$': '$$.Execution.Id',
                  'name.$': '$$.Execution.Name',
                  'input.$': '$$.Execution.Input.items[0]',
                  'start.$': '$$.Execution.StartTime',
                  'machine.$': '$$.StateMachine.Name',
                  'state.$': '$$.State.Name',
                  'retries.$': '$$.State.RetryCount',
                  'index.$': '$$.Map.Item.Index',
                  'value.$': '$$.Map.Item.Value',
                },
                End: true,
              },
            },
          },
          End: true,
        },
      },
    };
    expect(await outputOf(definition, { items: ['a'] })).toEqual([
      {
        id: 'arn:aws:states:us-east-1:000000000000:execution:machine:run',
        name: 'run',
        input: 'a',
        start: '2025-01-01T00:00:00.000Z',
        machine: 'machine',
        state: 'Look',
        retries: 0,
        index: 0,
        value: 'a',
      },
    ]);
  });
});

describe('an intrinsic function', () => {
  const data = { name: "O'Neil", n: 5, list: [1, 2, 2, 3], left: { a: 1, b: 1 }, right: { b: 2 } };

  it.for([
    ["States.Format('{}-{}: {}', $.name, $.n, true)", "O'Neil-5: true"],
    ["States.Format('\\{{}\\} it\\'s, (fine)', $.n)", "{5} it's, (fine)"],
    ["States.Array(1, 'a,b', $.n, null, States.Array())", [1, 'a,b', 5, null, []]],
    ['States.ArrayPartition($.list, 3)', [[1, 2, 2], [3]]],
    ['States.ArrayContains($.list, 3)', true],
    ['States.ArrayRange(1, 9, 2)', [1, 3, 5, 7, 9]],
    ['States.ArrayRange(3, 1, -1)', [3, 2, 1]],
    ['States.ArrayGetItem($.list, 3)', 3],
    ['States.ArrayLength($.list)', 4],
    ['States.ArrayUnique($.list)', [1, 2, 3]],
    ["States.Base64Encode('data')", 'ZGF0YQ=='],
    ["States.Base64Decode('ZGF0YQ==')", 'data'],
    ["States.Hash('input data', 'SHA-1')", 'aaff4a450a104cd177d28d18d74485e8cae074b7'],
    ['States.JsonMerge($.left, $.right, false)', { a: 1, b: 2 }],
    ['States.JsonToString($.left)', '{"a":1,"b":1}'],
    ['States.StringToJson(\'{"a":[1]}\')', { a: [1] }],
    ['States.MathAdd($.n, -1)', 4],
  ] as const)('%s gives %j', async ([text, expected]) => {
    const state = only({ Type: 'Pass', Parameters: { 'v.$': text } });
    expect(await outputOf(state, data)).toEqual({ v: expected });
  });

  it('makes identifiers', async () => {
    const state = only({ Type: 'Pass', Parameters: { 'v.$': 'States.UUID()' } });
    expect(await outputOf(state)).toEqual({
      v: expect.stringMatching(
        /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-/,
      ) as string,
    });
  });

  it.for([
    "States.Format('{}')",
    "States.Format('x', $.n)",
    'States.ArrayGetItem($.list, 9)',
    'States.ArrayRange(1, 5000, 1)',
    'States.MathAdd($.name, 1)',
    "States.StringToJson('{')",
    'States.JsonMerge($.left, $.right, true)',
  ])('%s fails with a name that can be caught', async (text) => {
    const state = only({ Type: 'Pass', Parameters: { 'v.$': text } });
    expect((await run(state, data)).state().error).toBe('States.IntrinsicFailure');
  });
});

describe('what flows between states', () => {
  const nearLimit = 'x'.repeat(262_142);

  it('may have 256 KiB', async () => {
    const definition = only({ Type: 'Task', Resource: arnOf('work') });
    const functions = { work: () => nearLimit };
    expect(await outputOf(definition, {}, { functions })).toBe(nearLimit);
  });

  it.for([
    ['a result', only({ Type: 'Task', Resource: arnOf('large') })],
    [
      'parameters',
      only({ Type: 'Task', Resource: arnOf('large'), Parameters: { a: nearLimit, b: 1 } }),
    ],
    ['an output', only({ Type: 'Pass', Result: { a: nearLimit.slice(10) }, ResultPath: '$.long' })],
  ] as const)('may not have more, as %s', async ([, definition]) => {
    const functions = { large: () => `${nearLimit}é` };
    const execution = await run(definition, { some: 'input' }, { functions });
    expect(execution.state()).toMatchObject({
      status: 'FAILED',
      error: 'States.DataLimitExceeded',
      cause: expect.stringMatching(
        /^The state\/task '.*' returned a result with a size exceeding the maximum number of bytes service limit\.$/,
      ) as string,
    });
  });
});
