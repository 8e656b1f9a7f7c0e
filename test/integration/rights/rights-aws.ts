import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Duration, RemovalPolicy, type Stack } from 'aws-cdk-lib/core';
import { DescribeExecutionCommand, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { expect } from 'vitest';
import { StreamJob } from '../../../infra/stream-job.ts';
import type { StreamJobProps } from '../../../infra/stream-job-props.ts';
import { existingStream, provisionedStream } from '../../../infra/stream-source.ts';
import type { EmbeddedAws } from '../../../localstack/embedded/embedded-aws.ts';
import type { ServiceEndpoints } from '../../../localstack/embedded/lambda/environment-variables.ts';
import type { RequestStep } from '../../../shared/config/workflow-steps.ts';
import { listJobOutputs } from '../embedded/job-outputs.ts';
import { startJobAws, type JobAws } from '../embedded/start-job-aws.ts';
import { accounts, reminders } from './accounts-operator.ts';
import type { Call } from './policy.ts';
import { readCalls } from './read-calls.ts';
import {
  startRecordingProxy,
  type RecordedRequest,
  type RecordingProxy,
} from './recording-proxy.ts';

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

export const firstJob = 'accounts';
export const twinJob = 'accounts-b';

/** The names of outputs begin with this where they are the clone's. */
export type Prefix = '' | 'Twin';

/** The embedded AWS with a job and a clone of it, whose functions talk to it through proxies that write down what they ask. */
export interface RightsAws extends JobAws {
  output(name: string): string;
  /** What functions have asked for so far, each once. */
  calls(): Call[];
  /** Asks the function of the workflows for a step, as the command line does. */
  ask(prefix: Prefix, step: RequestStep, input?: object): Promise<Record<string, unknown>>;
  /** Runs a workflow to its end, which must be a good one. */
  run(
    prefix: Prefix,
    workflow: 'Savepoints' | 'Restores',
    input: object,
  ): Promise<Record<string, unknown>>;
  /** Kills a function once, behind the next request that holds a text and before its answer arrives. */
  killBehind(functionName: string, text: string): void;
  /** DynamoDB stops or begins to know batches of statements, and processes that have found that out end. */
  knowStatements(knows: boolean): void;
  /** Lets a function begin anew, with a clock that is ahead. */
  setClock(functionName: string, ahead: Duration): void;
}

function addAccounts(
  stack: Stack,
  id: string,
  props: Pick<StreamJobProps, 'jobName' | 'source' | 'cloneOf' | 'checkpointing'>,
): StreamJob {
  const common = { batchingWindow: Duration.seconds(0), memorySize: 256 };
  return new StreamJob(stack, id, {
    ...props,
    operators: [
      {
        ...{ ...common, id: accounts.id, entry: fileOf('./accounts-handler.ts') },
        sinks: { journal: 'append', notices: 'append', balance: 'upsert' },
      },
      {
        ...{ ...common, id: reminders.id, entry: fileOf('./reminders-handler.ts') },
        sinks: { reminders: 'append' },
      },
    ],
    maxParallelism: 4,
    generationRetention: Duration.hours(1),
    heartbeat: { every: Duration.minutes(1), behind: Duration.seconds(0) },
    encryption: 'customer-managed',
    removalPolicy: RemovalPolicy.DESTROY,
  });
}

function listOutputs(job: StreamJob): Record<string, string> {
  return {
    ...listJobOutputs(job, accounts.id),
    Reminding: job.operatorFunction(reminders.id).functionName,
    Registrar: job.registrarFunction.functionName,
    Coordinator: job.coordinatorFunction.functionName,
    Journal: job.sinkTable('journal').tableName,
    Balance: job.sinkTable('balance').tableName,
    Reminders: job.sinkTable('reminders').tableName,
    StreamArn: job.stream.streamArn,
  };
}

/** All that a job can have in the first one, a clone of it beside it. */
function addJobs(stack: Stack, clockFile: string): Record<string, string> {
  const source = provisionedStream({ shards: 2 });
  const job = addAccounts(stack, 'Job', {
    ...{ jobName: firstJob, source },
    checkpointing: { retained: 1, backup: { prefix: 'backup/' } },
  });
  const twin = addAccounts(stack, 'Twin', {
    ...{ jobName: twinJob, cloneOf: job },
    source: existingStream(job.stream, { retention: Duration.hours(24) }),
  });
  for (const { coordinatorFunction, workflowFunction } of [job, twin]) {
    for (const one of [coordinatorFunction, workflowFunction]) {
      one.addEnvironment('HOLDFAST_TEST_CLOCK', clockFile);
      one.addEnvironment('NODE_OPTIONS', `--import ${fileOf('./test-clock.ts')}`);
    }
  }
  const ofTwin = Object.entries(listOutputs(twin)).map(
    ([name, value]) => [`Twin${name}`, value] as const,
  );
  return { ...listOutputs(job), ...Object.fromEntries(ofTwin) };
}

export async function startRightsAws(): Promise<RightsAws> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-clock-'));
  const clockFile = join(folder, 'ahead-ms');
  writeFileSync(clockFile, '0');
  const recorder = createRecorder();
  const end = async (): Promise<void> => {
    await recorder.stop();
    rmSync(folder, { recursive: true });
  };
  const started = await startJobAws('Rights', (stack) => addJobs(stack, clockFile), {
    stateMachineSpeed: 20,
    // Schedules are fired by hand.
    scheduleSpeed: 0,
    // The clone hands everything back for as long as it is closed.
    pace: { retryDelayMsMax: 1_000 },
    functionEndpoints: (services) => recorder.listen(services),
  }).catch(async (thrown: unknown) => {
    await end();
    throw thrown;
  });
  const { aws } = started;
  const { stepFunctions } = started.clients;
  const output = (name: string): string => aws.outputs[name]!;

  return {
    ...started,
    output,
    calls: () => recorder.read(aws),
    async ask(prefix, step, input) {
      const result = await aws.functions.invoke(output(`${prefix}Steps`), { step, ...input });
      if (result.kind !== 'success') throw new Error(`${step}: ${JSON.stringify(result)}`);
      return JSON.parse(result.payload) as Record<string, unknown>;
    },
    async run(prefix, workflow, input) {
      const { executionArn } = await stepFunctions.send(
        new StartExecutionCommand({
          stateMachineArn: output(`${prefix}${workflow}`),
          input: JSON.stringify(input),
        }),
      );
      const describe = () => stepFunctions.send(new DescribeExecutionCommand({ executionArn }));
      let ended = await describe();
      // Bounded by the test's own time.
      while (ended.status === 'RUNNING') {
        await sleep(50);
        ended = await describe();
      }
      expect(ended.status, `${ended.error}: ${ended.cause}`).toBe('SUCCEEDED');
      return JSON.parse(ended.output!) as Record<string, unknown>;
    },
    killBehind(functionName, text) {
      recorder.onRequest = ({ body }) => {
        if (!body.includes(text)) return;
        recorder.onRequest = undefined;
        aws.functions.kill(functionName);
      };
    },
    knowStatements(knows) {
      recorder.refuses = knows ? undefined : 'BatchExecuteStatement';
      for (const { name } of aws.functions.list()) aws.functions.kill(name);
    },
    setClock(functionName, ahead) {
      writeFileSync(clockFile, String(ahead.toMilliseconds()));
      aws.functions.kill(functionName);
    },
    async stop() {
      await started.stop();
      await end();
    },
  };
}

type Service = keyof ServiceEndpoints;

/** Proxies before the services, and all that came through them. */
function createRecorder() {
  const proxies: RecordingProxy[] = [];
  const requests: { readonly service: Service; readonly request: RecordedRequest }[] = [];
  const recorder = {
    /** The operation that is not known at the moment. */
    refuses: undefined as string | undefined,
    /** Called before an answer is passed on. */
    onRequest: undefined as ((request: RecordedRequest) => void) | undefined,

    async listen(services: ServiceEndpoints): Promise<ServiceEndpoints> {
      const endpoints = { ...services };
      for (const service of Object.keys(services) as Service[]) {
        const proxy = await startRecordingProxy(services[service], {
          record(request) {
            requests.push({ service, request });
            recorder.onRequest?.(request);
          },
          refuse: (operation) =>
            operation === recorder.refuses ? 'UnknownOperationException' : undefined,
        });
        proxies.push(proxy);
        endpoints[service] = proxy.endpoint;
      }
      return endpoints;
    },

    read({ region, accountId, outputs }: EmbeddedAws): Call[] {
      const place = { region, accountId, streamArn: outputs['StreamArn']! };
      const calls = requests.flatMap(({ service, request }) => readCalls(service, request, place));
      return [...new Map(calls.map((call) => [JSON.stringify(call), call])).values()];
    },

    async stop(): Promise<void> {
      for (const proxy of proxies) await proxy.stop();
    },
  };
  return recorder;
}
