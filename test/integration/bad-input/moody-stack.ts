import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CfnOutput, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib/core';
import { StreamJob } from '../../../infra/stream-job.ts';
import { provisionedStream } from '../../../infra/stream-source.ts';
import { createApp } from '../../infra/synthesize-job.ts';
import { moody } from './moody-operator.ts';

const entry = fileURLToPath(new URL('./moody-handler.ts', import.meta.url));

/** One job of the moody operator, with a stream, a function and tables of its own. */
export interface MoodyJob {
  readonly name: string;
  readonly shards?: number;
  /** How long an invocation may take, s. */
  readonly timeoutSeconds?: number;
  /** What is changed in its function's environment after synth, as somebody does by hand; undefined takes it away. */
  readonly spoil?: Readonly<Record<string, string | undefined>>;
}

export interface MoodyTemplate {
  readonly file: string;
  remove(): void;
}

interface Resource {
  readonly Type: string;
  readonly Properties: { Environment?: { Variables: Record<string, unknown> } };
}

/** The logical id of what a spoilt function is replaced by. */
export function repairedId(logicalId: string): string {
  return `${logicalId}Repaired`;
}

/** Synthesizes a stack with some jobs, bundles included, as `cdk synth` does. */
export function synthesizeMoodyJobs(jobs: readonly MoodyJob[]): MoodyTemplate {
  const app = createApp();
  const stack = new Stack(app, 'Moody');
  const functionIds = new Map<string, string>();
  for (const { name, shards = 1, timeoutSeconds = 60 } of jobs) {
    const job = new StreamJob(stack, name, {
      jobName: name,
      source: provisionedStream({ shards }),
      operators: [
        {
          id: moody.id,
          entry,
          sinks: { journal: 'append', balance: 'upsert' },
          batchingWindow: Duration.seconds(0),
          memorySize: 128,
          timeout: Duration.seconds(timeoutSeconds),
        },
      ],
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const outputs = {
      Stream: job.stream.streamName,
      StreamArn: job.stream.streamArn,
      Function: job.operatorFunction(moody.id).functionName,
      Journal: job.sinkTable('journal').tableName,
      Balance: job.sinkTable('balance').tableName,
      DeadLetters: job.deadLetterTable.tableName,
      Bucket: job.bucket.bucketName,
    };
    for (const [what, value] of Object.entries(outputs)) {
      new CfnOutput(stack, `${name}${what}`, { value });
    }
    const resource = job.operatorFunction(moody.id).node.defaultChild;
    functionIds.set(name, stack.getLogicalId(resource as Parameters<Stack['getLogicalId']>[0]));
  }
  app.synth();
  const file = join(app.outdir, 'Moody.template.json');
  spoilFunctions(file, jobs, functionIds);
  return { file, remove: () => rmSync(app.outdir, { recursive: true, force: true }) };
}

/** Edits the environments that are to be wrong, and leaves the right function beside each. */
function spoilFunctions(
  file: string,
  jobs: readonly MoodyJob[],
  functionIds: ReadonlyMap<string, string>,
): void {
  const template = JSON.parse(readFileSync(file, 'utf8')) as {
    Resources: Record<string, Resource>;
  };
  for (const { name, spoil } of jobs) {
    if (spoil === undefined) continue;
    const logicalId = functionIds.get(name)!;
    const resource = template.Resources[logicalId]!;
    template.Resources[repairedId(logicalId)] = structuredClone(resource);
    const variables = resource.Properties.Environment!.Variables;
    for (const [variable, value] of Object.entries(spoil)) {
      if (value === undefined) delete variables[variable];
      else variables[variable] = value;
    }
  }
  writeFileSync(file, JSON.stringify(template));
}
