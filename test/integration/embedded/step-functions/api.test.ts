import {
  DescribeExecutionCommand,
  DescribeStateMachineCommand,
  GetExecutionHistoryCommand,
  ListExecutionsCommand,
  ListStateMachinesCommand,
  SFNClient,
  StartExecutionCommand,
  StopExecutionCommand,
  type SFNServiceException,
} from '@aws-sdk/client-sfn';
import { describe, expect, it, onTestFinished } from 'vitest';

import type { StateMachine } from '../../../../localstack/embedded/step-functions/state-machines.ts';
import { startStepFunctions } from '../../../../localstack/embedded/step-functions/step-functions-server.ts';
import { createMachine, startOfTime } from './memory-machine.ts';

const definition = {
  StartAt: 'Long?',
  States: {
    'Long?': {
      Type: 'Choice',
      Choices: [{ Variable: '$.long', IsPresent: true, Next: 'Long' }],
      Default: 'Done',
    },
    Long: { Type: 'Wait', Seconds: 99_999_999, Next: 'Done' },
    Done: { Type: 'Succeed' },
  },
};

async function startApi(): Promise<{ client: SFNClient; machine: StateMachine }> {
  let timeMs = startOfTime;
  const machine = createMachine(definition, { speed: 1, nowMs: () => (timeMs += 1_000) });
  const server = await startStepFunctions({
    create: () => machine,
    list: () => [machine],
    find: (arn) => (arn === machine.arn ? machine : undefined),
    stop: () => Promise.resolve(),
  });
  onTestFinished(() => server.stop());
  const client = new SFNClient({
    endpoint: server.endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  onTestFinished(() => client.destroy());
  return { client, machine };
}

async function refusal(sending: Promise<unknown>): Promise<{ name: string; message: string }> {
  const error = await sending.then(
    () => undefined,
    (reason: unknown) => reason as SFNServiceException,
  );
  if (error === undefined) throw new Error('it was not refused');
  expect(error.$metadata.httpStatusCode).toBe(400);
  return { name: error.name, message: error.message };
}

describe('StartExecution', () => {
  it('starts one execution for a name', async () => {
    const { client, machine } = await startApi();
    const request = { stateMachineArn: machine.arn, name: 'once', input: '{"long":1}' };
    const first = await client.send(new StartExecutionCommand(request));
    expect(first.executionArn).toBe('arn:aws:states:us-east-1:000000000000:execution:machine:once');
    // The same again while it runs.
    const second = await client.send(new StartExecutionCommand(request));
    expect([second.executionArn, second.startDate]).toEqual([first.executionArn, first.startDate]);
    expect(machine.executions.size).toBe(1);

    const taken = {
      name: 'ExecutionAlreadyExists',
      message: `Execution Already Exists: '${first.executionArn}'`,
    };
    const other = { ...request, input: '{"long":2}' };
    expect(await refusal(client.send(new StartExecutionCommand(other)))).toEqual(taken);
    await client.send(new StopExecutionCommand({ executionArn: first.executionArn }));
    expect(await refusal(client.send(new StartExecutionCommand(request)))).toEqual(taken);
  });

  it('finds a name, and takes an empty object as input', async () => {
    const { client, machine } = await startApi();
    const { executionArn } = await client.send(
      new StartExecutionCommand({ stateMachineArn: machine.arn }),
    );
    const described = await client.send(new DescribeExecutionCommand({ executionArn }));
    expect(described.name).toMatch(/^[0-9a-f-]{36}$/);
    expect(described).toMatchObject({ status: 'SUCCEEDED', input: '{}', output: '{}' });
  });

  it.for([
    ['input that is no JSON', { input: '{"a":' }, 'InvalidExecutionInput'],
    ['too much input', { input: `"${'x'.repeat(262_143)}"` }, 'ValidationException'],
    ['a name with a space', { name: 'with space' }, 'InvalidName'],
    ['a name with a slash', { name: 'a/b' }, 'InvalidName'],
    ['a long name', { name: 'x'.repeat(81) }, 'ValidationException'],
    ['what is no ARN', { stateMachineArn: 'machine' }, 'InvalidArn'],
    [
      'another machine',
      { stateMachineArn: 'arn:aws:states:us-east-1:000000000000:stateMachine:other' },
      'StateMachineDoesNotExist',
    ],
  ] as const)('refuses %s', async ([, part, name]) => {
    const { client, machine } = await startApi();
    const request = { stateMachineArn: machine.arn, ...part };
    expect((await refusal(client.send(new StartExecutionCommand(request)))).name).toBe(name);
    expect(machine.executions.size).toBe(0);
  });
});

describe('executions', () => {
  it('are listed by their status, the newest first, page by page', async () => {
    const { client, machine } = await startApi();
    const stateMachineArn = machine.arn;
    for (const [name, input] of [
      ['a', '{}'],
      ['b', '{"long":1}'],
      ['c', '{}'],
      ['d', '{}'],
    ]) {
      await client.send(new StartExecutionCommand({ stateMachineArn, name, input }));
    }
    const list = async (request: object): Promise<[(string | undefined)[], string | undefined]> => {
      const listed = await client.send(new ListExecutionsCommand({ stateMachineArn, ...request }));
      return [(listed.executions ?? []).map(({ name }) => name), listed.nextToken];
    };
    expect(await list({})).toEqual([['d', 'c', 'b', 'a'], undefined]);
    expect(await list({ statusFilter: 'RUNNING' })).toEqual([['b'], undefined]);
    const [names, nextToken] = await list({ statusFilter: 'SUCCEEDED', maxResults: 2 });
    expect(names).toEqual(['d', 'c']);
    expect(await list({ statusFilter: 'SUCCEEDED', maxResults: 2, nextToken })).toEqual([
      ['a'],
      undefined,
    ]);
    expect(await refusal(list({ nextToken: 'x' }))).toMatchObject({ name: 'InvalidToken' });
    expect(await refusal(list({ statusFilter: 'GONE' }))).toMatchObject({
      name: 'ValidationException',
    });
  });

  it('that are not there are refused', async () => {
    const { client } = await startApi();
    const executionArn = 'arn:aws:states:us-east-1:000000000000:execution:machine:none';
    for (const command of [
      new DescribeExecutionCommand({ executionArn }),
      new StopExecutionCommand({ executionArn }),
      new GetExecutionHistoryCommand({ executionArn }),
    ]) {
      expect(await refusal(client.send(command as DescribeExecutionCommand))).toEqual({
        name: 'ExecutionDoesNotExist',
        message: `Execution Does Not Exist: '${executionArn}'`,
      });
    }
  });

  it('have a history that can be read in both directions, and without data', async () => {
    const { client, machine } = await startApi();
    const { executionArn } = await client.send(
      new StartExecutionCommand({ stateMachineArn: machine.arn, input: '{"x":1}' }),
    );
    const read = async (request: object = {}) =>
      (await client.send(new GetExecutionHistoryCommand({ executionArn, ...request }))).events;
    const events = await read();
    expect(events?.map(({ id, previousEventId, type }) => [id, previousEventId, type])).toEqual([
      [1, 0, 'ExecutionStarted'],
      [2, 1, 'ChoiceStateEntered'],
      [3, 2, 'ChoiceStateExited'],
      [4, 3, 'SucceedStateEntered'],
      [5, 4, 'SucceedStateExited'],
      [6, 5, 'ExecutionSucceeded'],
    ]);
    expect(events?.[1]?.stateEnteredEventDetails).toEqual({
      name: 'Long?',
      input: '{"x":1}',
      inputDetails: { truncated: false },
    });
    expect(events?.[0]?.timestamp?.getTime()).toBeGreaterThan(startOfTime);
    expect((await read({ reverseOrder: true }))?.map(({ id }) => id)).toEqual([6, 5, 4, 3, 2, 1]);
    const bare = await read({ includeExecutionData: false });
    expect(bare?.[1]?.stateEnteredEventDetails).toEqual({ name: 'Long?' });
  });
});

describe('state machines', () => {
  it('are described and listed', async () => {
    const { client, machine } = await startApi();
    const listed = await client.send(new ListStateMachinesCommand({}));
    expect(listed.stateMachines?.map(({ name, type }) => [name, type])).toEqual([
      ['machine', 'STANDARD'],
    ]);
    const described = await client.send(
      new DescribeStateMachineCommand({ stateMachineArn: machine.arn }),
    );
    expect(described).toMatchObject({ name: 'machine', status: 'ACTIVE', type: 'STANDARD' });
    expect(JSON.parse(described.definition ?? '')).toEqual(definition);
  });

  it('are not made or changed here', async () => {
    const { client } = await startApi();
    const endpoint = await client.config.endpoint!();
    const reply = await fetch(`http://${endpoint.hostname}:${endpoint.port}/`, {
      method: 'POST',
      headers: { 'x-amz-target': 'AWSStepFunctions.CreateStateMachine' },
      body: '{}',
    });
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ __type: 'UnknownOperationException' });
  });
});
