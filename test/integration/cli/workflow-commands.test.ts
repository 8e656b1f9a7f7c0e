import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SFNClient } from '@aws-sdk/client-sfn';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { findObstacles, formatPlan } from '../../../cli/restore/restore-plan.ts';
import { createTracker } from '../../../cli/workflow/follow-execution.ts';
import { startAlone } from '../../../cli/workflow/start-alone.ts';
import { nameExecution, type WorkflowClient } from '../../../cli/workflow/workflow-client.ts';
import type { RestorePlan } from '../../../shared/composition/aws/request-steps.ts';
import { startCli } from '../demo/run-cli.ts';

const plan: RestorePlan = {
  job: 'flights',
  cloned: '',
  object: 'jobs/flights/checkpoints/00000001/000000000007.json',
  kind: 'checkpoint',
  generation: 1,
  number: 7,
  label: '',
  note: '',
  tags: {},
  readAtMs: Date.UTC(2025, 0, 1),
  isExact: true,
  bytes: 1_000,
  keysInRuns: 10,
  channels: 2,
  present: 3,
  hold: null,
  differences: [],
  gaps: [],
  warnings: [],
  missing: { files: 0, examples: [] },
};

const loss = { text: 'state "x" is gone', remedy: 'declare it again', isLoss: true };
const change = { text: 'state "y" is a list', remedy: 'rename it', isLoss: false };

describe('what stands against a restore', () => {
  it('is nothing where all is as it was', () => {
    expect(findObstacles(plan, { allowNonRestoredState: false, acceptGap: false })).toEqual([]);
  });

  it('is everything, each with what lets it pass', () => {
    const bad: RestorePlan = {
      ...plan,
      differences: [loss, change],
      gaps: ['shard 1 has a gap'],
      missing: { files: 7, examples: ['a', 'b'] },
    };
    const all = findObstacles(bad, { allowNonRestoredState: false, acceptGap: false });
    expect(all).toEqual([
      'state "x" is gone: declare it again with --allow-non-restored-state',
      'state "y" is a list: rename it',
      'shard 1 has a gap: go on without those records with --accept-gap',
      'files are not in the bucket, take another manifest, or a copy with --from-backup: a, b, and 5 more',
    ]);
    expect(findObstacles(bad, { allowNonRestoredState: true, acceptGap: true })).toEqual([
      all[1],
      all[3],
    ]);
    for (const text of ['state "x" is gone', 'shard 1 has a gap', 'a, b, and 5 more']) {
      expect(formatPlan(bad)).toContain(text);
    }
  });

  it('is told with who holds the job', () => {
    const hold = {
      kind: 'stopped',
      owner: 'daily',
      sinceMs: 0,
      isFlipped: false,
      undo: '',
    } as const;
    expect(formatPlan({ ...plan, hold })).toContain('stopped daily since');
  });
});

describe('starting a workflow', () => {
  const clientWith = (running: string[]) => {
    const start = vi.fn<WorkflowClient['start']>(() => Promise.reject(new Error('started')));
    const client: WorkflowClient = {
      stepFunctions: new SFNClient(),
      ask: () => Promise.reject(new Error('nothing is asked')),
      start,
      listRunning: () =>
        Promise.resolve(
          running.map((name) => ({
            ...{ name, executionArn: `arn:${name}`, stateMachineArn: 'arn:machine' },
            ...{ status: 'RUNNING' as const, startDate: new Date(0) },
          })),
        ),
    };
    return { client, start };
  };
  const order = { workflow: 'arn:machine', name: 'restore-2', input: {}, json: false };

  it('is refused while another execution runs, which it names', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    onTestFinished(() => error.mockRestore());
    const { client, start } = clientWith(['restore-1']);
    expect(await startAlone(client, order)).toBe(1);
    expect(start).not.toHaveBeenCalled();
    expect(String(error.mock.calls[0])).toMatch(
      /restore-1 is running since 1970.*holdfast follow arn:restore-1/,
    );
  });

  it('does not mind what it can run beside', async () => {
    const { client, start } = clientWith(['drill-1']);
    const excludes = (name: string): boolean => !name.startsWith('drill-');
    await expect(startAlone(client, { ...order, excludes })).rejects.toThrow('started');
    expect(start).toHaveBeenCalledWith('arn:machine', 'restore-2', {});
  });

  it('gives each execution a name that it can have, and never twice', () => {
    const name = nameExecution('jobs/flights/savepoints/before the great change of everything/m');
    expect(name).toMatch(/^jobs-flights-[A-Za-z0-9_-]+$/);
    expect(name.length).toBeLessThanOrEqual(80);
    expect(nameExecution('a')).not.toBe(nameExecution('a'));
  });
});

describe('following an execution', () => {
  const entered = (type: 'TaskStateEntered' | 'MapStateEntered', name: string) => ({
    ...{ timestamp: new Date(), id: 1, type },
    stateEnteredEventDetails: { name },
  });
  const event = (type: 'MapIterationSucceeded') => ({ timestamp: new Date(), id: 1, type });

  it('shows each state once, and of a Map its parts', () => {
    const track = createTracker();
    expect(track(entered('TaskStateEntered', 'Prepare'))).toEqual({ state: 'Prepare' });
    expect(track(entered('TaskStateEntered', 'Prepare'))).toBeUndefined();
    expect(track(entered('MapStateEntered', 'Load the state'))).toEqual({
      state: 'Load the state',
    });
    const started = {
      ...{ timestamp: new Date(), id: 1, type: 'MapStateStarted' as const },
      mapStateStartedEventDetails: { length: 3 },
    };
    expect(track(started)).toEqual({ state: 'Load the state', done: 0, total: 3 });
    expect(track(entered('TaskStateEntered', 'Load the state: a part'))).toBeUndefined();
    track(event('MapIterationSucceeded'));
    expect(track(event('MapIterationSucceeded'))).toEqual({
      ...{ state: 'Load the state', done: 2, total: 3 },
    });
  });

  it('shows how far a merge is', () => {
    const track = createTracker();
    track(entered('TaskStateEntered', 'Merge the files'));
    const exited = {
      ...{ timestamp: new Date(), id: 1, type: 'TaskStateExited' as const },
      stateExitedEventDetails: {
        name: 'Merge the files',
        output: JSON.stringify({ base: { doneBytes: 5, totalBytes: 20 } }),
      },
    };
    expect(track(exited)).toEqual({ state: 'Merge the files', done: 5, total: 20 });
  });
});

describe('the command line', () => {
  it('leaves an execution alone at Ctrl-C, and says how to follow it', async () => {
    const execution = 'arn:aws:states:us-east-1:000000000000:execution:machine:restore-1';
    const asked: string[] = [];
    let interrupt = (): void => undefined;
    const server = createServer((request, answer) => {
      const operation = String(request.headers['x-amz-target']).replace(/^.*\./, '');
      asked.push(operation);
      request.resume();
      const body = operation === 'DescribeExecution' ? { status: 'RUNNING' } : { events: [] };
      answer.setHeader('content-type', 'application/x-amz-json-1.0');
      answer.end(JSON.stringify(body));
      if (operation === 'GetExecutionHistory') interrupt();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const { child, ended, printed } = startCli(['follow', execution], {
      env: {
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'local',
        AWS_SECRET_ACCESS_KEY: 'local',
        AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
      },
    });
    interrupt = () => void child.kill('SIGINT');
    expect(await ended).toBe(130);
    expect(printed.err).toContain(
      `the execution goes on; follow it with: holdfast follow ${execution}`,
    );
    expect(asked).not.toContain('StopExecution');
  });

  it.each([
    [['restore'], 'workflow-function'],
    [['restore', 'latest', '--workflow-function', 'f'], 'restore-workflow'],
    [
      ['restore', '--workflow-function', 'f', '--restore-workflow', 'arn'],
      '[from], --undo, --to-time or --to-position',
    ],
    [
      [
        'restore',
        '--to-time',
        '2025-01-31T12:00',
        '--workflow-function',
        'f',
        '--restore-workflow',
        'arn',
      ],
      'with its zone',
    ],
    [['savepoint', 'show', '../x', '--workflow-function', 'f'], 'expected up to 100 letters'],
    [['generations', 'delete', '0', '--workflow-function', 'f'], 'whole number from 1'],
  ])('refuses %s', async (args, reason) => {
    const { ended, printed } = startCli(args);
    expect(await ended).toBe(2);
    expect(printed.err).toContain(reason);
  });
});
