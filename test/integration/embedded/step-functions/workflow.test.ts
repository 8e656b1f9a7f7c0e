import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import {
  DescribeExecutionCommand,
  GetExecutionHistoryCommand,
  StartExecutionCommand,
  StopExecutionCommand,
  type DescribeExecutionCommandOutput,
  type SFNClient,
} from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';

import type {
  EmbeddedAws,
  EmbeddedAwsOptions,
} from '../../../../localstack/embedded/embedded-aws.ts';
import { createServiceClients } from '../../../../localstack/embedded/service-clients.ts';
import { isProcessAlive, pollUntil, pollUntilTrue } from '../poll-until.ts';
import { startStack } from '../stack/fixture-stack.ts';
import { tempDirectory } from '../temp-directory.ts';
import { synthesizeWorkflow } from './workflow-stack.ts';

let synthDirectory: string;
let templateFile: string;
beforeAll(() => {
  synthDirectory = mkdtempSync(path.join(os.tmpdir(), 'workflow-'));
  templateFile = synthesizeWorkflow(synthDirectory);
});
afterAll(() => rmSync(synthDirectory, { recursive: true, force: true }));

interface Workflow {
  readonly aws: EmbeddedAws;
  readonly client: SFNClient;
  /** The ids of all attempts so far, in their order. */
  attempts(): string[];
  start(name: string, items: readonly object[]): Promise<string>;
  ended(executionArn: string): Promise<DescribeExecutionCommandOutput>;
}

async function startWorkflow(
  options: Pick<EmbeddedAwsOptions, 'log' | 'chaos'> = {},
): Promise<Workflow> {
  const ledger = path.join(tempDirectory(), 'ledger');
  const aws = await startStack(templateFile, {
    parameters: { Ledger: ledger },
    // Five minutes in 0.3 s.
    stateMachineSpeed: 1_000,
    ...options,
  });
  const clients = createServiceClients(aws.endpoints, aws.region);
  onTestFinished(() => clients.destroy());
  const client = clients.stepFunctions;
  return {
    aws,
    client,
    attempts: () =>
      existsSync(ledger) ? readFileSync(ledger, 'utf8').split('\n').filter(Boolean) : [],
    async start(name, items) {
      const started = await client.send(
        new StartExecutionCommand({
          stateMachineArn: aws.outputs['MachineArn'],
          name,
          input: JSON.stringify({ items }),
        }),
      );
      return started.executionArn ?? '';
    },
    ended: (executionArn) =>
      pollUntil('the end of the execution', async () => {
        const described = await client.send(new DescribeExecutionCommand({ executionArn }));
        return described.status === 'RUNNING' ? undefined : described;
      }),
  };
}

it('runs a synthesized workflow with items that are retried, given up, and crash', async () => {
  const { start, ended, client } = await startWorkflow();
  const executionArn = await start('good', [
    { id: 'plain' },
    { id: 'later', how: 'later', times: 3 },
    { id: 'refused', how: 'refuse' },
    { id: 'crashing', how: 'exit', times: 2 },
  ]);
  expect(executionArn).toMatch(/:execution:Workflow-Machine[0-9A-F]{8}-[0-9a-f]{8}:good$/);
  const { status, output, startDate, stopDate } = await ended(executionArn);
  expect([status, JSON.parse(output ?? '')]).toEqual([
    'SUCCEEDED',
    [
      { id: 'plain', attempts: 1, run: 'good/0' },
      { id: 'later', attempts: 4, run: 'good/1' },
      { givenUp: 'Refused' },
      { id: 'crashing', attempts: 3, run: 'good/3' },
    ],
  ]);
  expect(stopDate?.getTime()).toBeGreaterThanOrEqual(startDate?.getTime() ?? Infinity);

  const { events = [] } = await client.send(new GetExecutionHistoryCommand({ executionArn }));
  expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => index + 1));
  const count = (type: string): number => events.filter((event) => event.type === type).length;
  expect(count('TaskStateEntered')).toBe(4);
  expect(count('TaskScheduled')).toBe(1 + 4 + 1 + 3);
  expect(count('TaskFailed')).toBe(3 + 1 + 2);
  expect(count('MapIterationSucceeded')).toBe(4);
  expect(events[0]).toMatchObject({ type: 'ExecutionStarted', previousEventId: 0 });
  expect(events.at(-1)).toMatchObject({
    type: 'ExecutionSucceeded',
    executionSucceededEventDetails: { output },
  });
  const failed = events.find(({ taskFailedEventDetails: details }) => details?.error === 'Refused');
  expect(failed?.taskFailedEventDetails).toMatchObject({
    resourceType: 'lambda',
    resource: 'invoke',
    error: 'Refused',
    cause: expect.stringContaining('"errorMessage":"refused is not wanted"') as string,
  });
  const scheduled = events.find(({ id }) => id === (failed?.previousEventId ?? 0) - 1);
  expect(scheduled?.type).toBe('TaskScheduled');
});

it('undoes what fails for good', async () => {
  const { start, ended, attempts } = await startWorkflow();
  const bad = await ended(
    await start('bad', [{ id: 'never', how: 'later' }, { id: 'x' }, { id: 'y' }]),
  );
  expect(bad).toMatchObject({ status: 'FAILED', error: 'Undone', cause: 'NotYet' });
  expect(attempts().filter((id) => id === 'never').length).toBe(4);
  expect(attempts().at(-1)).toBe('undo');

  const nothing = await ended(await start('nothing', [{ id: 'unwanted', how: 'refuse' }]));
  expect(nothing).toMatchObject({ status: 'FAILED', error: 'NothingDone' });
  expect(nothing.cause).toBeUndefined();
});

it('tries a task again whose process is killed', async () => {
  const { aws, start, ended, attempts } = await startWorkflow();
  const executionArn = await start('killed', [{ id: 'stuck', how: 'hang', times: 1 }]);
  await pollUntilTrue('the first attempt', () => attempts().includes('stuck'));
  expect(aws.functions.kill(aws.outputs['WorkerName'] ?? '')).toBe(1);
  const { status, output } = await ended(executionArn);
  expect([status, JSON.parse(output ?? '')]).toEqual([
    'SUCCEEDED',
    [{ id: 'stuck', attempts: 2, run: 'killed/0' }],
  ]);
});

it('survives the kills of chaos', async () => {
  const chaos = { killDuringInvocation: { probability: 1, atMost: 2 } };
  const { aws, start, ended } = await startWorkflow({ chaos });
  // Chaos strikes at the only task, twice: its retrier allows no more.
  const { status, error } = await ended(await start('chaos', [{ id: 'slow', how: 'slow' }]));
  expect([status, error]).toEqual(['SUCCEEDED', undefined]);
  expect(aws.chaos.counts().killDuringInvocation).toBe(2);
  expect(aws.functions.get(aws.outputs['WorkerName'] ?? '').stats().crashes).toBe(2);
});

it('starts nothing any more when it is stopped in the middle of a task', async () => {
  const { start, ended, client, attempts, aws } = await startWorkflow();
  const executionArn = await start('stopped', [{ id: 'stuck', how: 'hang', times: 1 }]);
  await pollUntilTrue('the first attempt', () => attempts().includes('stuck'));
  const stop = { executionArn, error: 'Enough', cause: 'for today' };
  const { stopDate } = await client.send(new StopExecutionCommand(stop));
  const described = await ended(executionArn);
  expect(described).toMatchObject({ status: 'ABORTED', error: 'Enough', cause: 'for today' });
  // Once more changes nothing.
  const again = await client.send(new StopExecutionCommand({ executionArn, error: 'Other' }));
  expect([again.stopDate, (await ended(executionArn)).error]).toEqual([stopDate, 'Enough']);
  // Its function goes on, as on AWS, until it dies; then nobody tries again.
  for (const target of aws.functions.list()) target.kill();
  const next = await ended(await start('next', [{ id: 'plain' }]));
  expect(next.status).toBe('SUCCEEDED');
  expect(attempts()).toEqual(['stuck', 'plain']);
});

it('ends with its stack, in the middle of a task', async () => {
  const lines: string[] = [];
  const { aws, start, attempts } = await startWorkflow({ log: (line) => lines.push(line) });
  await start('running', [{ id: 'stuck', how: 'hang' }]);
  await pollUntilTrue('the first attempt', () => attempts().includes('stuck'));
  const pids = aws.functions.list().flatMap((target) => target.pids());
  expect(pids.length).toBe(1);
  await aws.stop();
  expect(pids.filter(isProcessAlive)).toEqual([]);
  expect(lines).toEqual([
    expect.stringMatching(/ execution running ABORTED: .*the local AWS has stopped$/),
  ]);
  expect(attempts()).toEqual(['stuck']);
  await expect(fetch(aws.endpoints.stepFunctions)).rejects.toThrow();
  await expect(fetch(aws.endpoints.lambda)).rejects.toThrow();
});
