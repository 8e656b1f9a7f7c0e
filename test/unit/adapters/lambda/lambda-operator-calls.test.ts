import type { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { describe, expect, it } from 'vitest';
import { createLambdaOperatorCalls } from '../../../../shared/adapters/lambda/lambda-operator-calls.ts';
import { createMemorySystem } from '../../../../shared/adapters/memory/memory-system.ts';
import { createWorkOrders } from '../../../../shared/composition/aws/work-orders.ts';
import { describeOperator } from '../../../../shared/runtime/describe-operator.ts';
import { createJob, firstShard, jobName } from '../../runtime/job-fixture.ts';

type Reply = { readonly Payload: Uint8Array; readonly FunctionError?: string } | Error;

/** A client that answers each invocation by a function. */
function createCalls(
  invoke: (functionName: string, payload: unknown, tries: number) => Promise<Reply>,
) {
  let tries = 0;
  const send = async ({ input }: InvokeCommand): Promise<unknown> => {
    tries += 1;
    const text = new TextDecoder().decode(input.Payload as Uint8Array);
    expect(input.InvocationType).toBe('RequestResponse');
    const reply = await invoke(input.FunctionName!, JSON.parse(text), tries);
    if (reply instanceof Error) throw reply;
    return reply;
  };
  const calls = createLambdaOperatorCalls({
    client: { send } as unknown as LambdaClient,
    functions: new Map([['tally', 'tally-function']]),
    system: createMemorySystem(),
  });
  return { calls, tries: () => tries };
}

const payloadOf = (value: unknown) => ({
  Payload: new TextEncoder().encode(JSON.stringify(value)),
});

const sdkError = (name: string, httpStatusCode: number): Error =>
  Object.assign(new Error('the service says so'), { name, $metadata: { httpStatusCode } });

describe('operators that are functions', () => {
  it('describe themselves and visit their channels when their function is invoked', async () => {
    const job = await createJob();
    job.put('ann', { amount: 3 });
    const answer = createWorkOrders(job.createEnvironment().runtime);
    const names: string[] = [];
    const { calls } = createCalls(async (functionName, payload) => {
      names.push(functionName);
      return payloadOf(await answer(payload, { remainingMs: () => 60_000 }));
    });
    expect(await calls.describe('tally')).toEqual(describeOperator(job.operator));
    const report = await calls.visit('tally', { shardId: firstShard, goal: { kind: 'tip' } });
    expect(report).toMatchObject({ isThere: true, records: 1 });
    expect(report.position).toEqual(job.progress()?.position);
    expect(names).toEqual(['tally-function', 'tally-function']);
  });

  it('keep what they learn under a hold from what the trigger delivers', async () => {
    const job = await createJob();
    job.put('ann', { amount: 3 });
    const { runtime, deliver } = job.createEnvironment();
    await deliver();
    const warm = structuredClone([...runtime.memory.channels.keys()]);
    const answer = createWorkOrders(runtime);
    const there = (await job.control.readJob(jobName))!;
    const hold = {
      ...({ id: 'h1', kind: 'restore', owner: 'r1', sinceMs: 0 } as const),
      ...{ isFlipped: false, undo: undefined },
    };
    await job.control.replaceJob({ ...there, version: there.version + 1, hold }, there.version);
    const { channel } = job.control.progressRows()[0]!;
    await job.control.fenceProgress(jobName, 1, channel, 'h1');
    job.put('ann', { amount: 4 });
    const remembered = runtime.memory.channels.get(warm[0]!)?.lastCommit;
    const visit = (id: string) =>
      answer(
        { holdfast: 'visit', shardId: firstShard, goal: { kind: 'tip' }, hold: id },
        { remainingMs: () => 60_000 },
      );
    expect(await visit('h1')).toMatchObject({ report: { isThere: true, records: 1 } });
    expect(job.progress()?.fence).toBe('h1');
    expect(runtime.memory.channels.get(warm[0]!)?.lastCommit).toBe(remembered);
    // The hold of somebody else stops it.
    expect(await visit('h2')).toMatchObject({ report: { isThere: false } });
  });

  it('are asked again while the service throttles or does not answer', async () => {
    const { calls, tries } = createCalls(async (_, __, attempt) =>
      attempt === 1
        ? sdkError('TooManyRequestsException', 429)
        : attempt === 2
          ? sdkError('TimeoutError', 500)
          : payloadOf({
              holdfast: 'contract',
              contract: { id: 'tally', states: [], sinks: [], timeRules: '' },
            }),
    );
    expect(await calls.describe('tally')).toMatchObject({ id: 'tally' });
    expect(tries()).toBe(3);
  });

  it.each([
    ['a function that is not there', sdkError('ResourceNotFoundException', 404), 'invalid'],
    ['a right that is missing', sdkError('AccessDeniedException', 403), 'invalid'],
    ['a client that is wrong', new TypeError('no region'), 'internal'],
  ])('are not asked again for %s', async (_, error, kind) => {
    const { calls, tries } = createCalls(async () => error);
    await expect(calls.describe('tally')).rejects.toMatchObject({ kind });
    expect(tries()).toBe(1);
  });

  it('may be asked again where their process died', async () => {
    const { calls } = createCalls(async () => ({
      FunctionError: 'Unhandled',
      ...payloadOf({ errorType: 'Sandbox.Timedout', errorMessage: 'timed out after 60 seconds' }),
    }));
    await expect(
      calls.visit('tally', { shardId: 's', goal: { kind: 'tip' } }),
    ).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('Sandbox.Timedout: timed out after 60 seconds') as string,
    });
  });

  it('are known by name', async () => {
    const { calls } = createCalls(async () => payloadOf({}));
    await expect(calls.describe('other')).rejects.toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining('expected one of: tally') as string,
    });
  });

  it('must answer what they were asked', async () => {
    const { calls } = createCalls(async () => payloadOf({ batchItemFailures: [] }));
    await expect(calls.describe('tally')).rejects.toMatchObject({ kind: 'internal' });
  });
});
