import { GetObjectCommand } from '@aws-sdk/client-s3';
import { paginateScan } from '@aws-sdk/client-dynamodb';
import { PutRecordsCommand } from '@aws-sdk/client-kinesis';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { startEmbeddedAws, type EmbeddedAws } from '../../../localstack/embedded/embedded-aws.ts';
import { createServiceClients } from '../../../localstack/embedded/service-clients.ts';
import type { InvocationResult } from '../../../localstack/embedded/lambda/invocation-result.ts';
import type { MoodyEvent } from './moody-operator.ts';
import { repairedId, synthesizeMoodyJobs, type MoodyJob } from './moody-stack.ts';

type Row = Readonly<Record<string, unknown>>;

/** A record as a producer puts it; an event goes under its account. */
export type Put =
  | MoodyEvent
  | {
      readonly partitionKey: string;
      readonly data: string;
      /** Sends it to another shard than its key's. */
      readonly explicitHashKey?: string;
    };

/** The embedded AWS with some jobs of the moody operator. */
export interface MoodyAws {
  readonly aws: EmbeddedAws;
  /** All in one request, so in this order. */
  put(job: string, records: readonly Put[]): Promise<void>;
  /** Resolves when everything that was put is acknowledged. */
  whenDone(job: string): Promise<void>;
  /** Invokes the job's function directly. */
  invoke(job: string, event: unknown): Promise<InvocationResult>;
  /** The histories in the journal of an account, in order. */
  journal(job: string, account: string): Promise<unknown[]>;
  balance(job: string, account: string): Promise<unknown>;
  deadLetters(job: string, partitionKey: string): Promise<Row[]>;
  readObject(job: string, name: string): Promise<string>;
  functionOf(job: string): ReturnType<EmbeddedAws['functions']['get']>;
  mappingOf(job: string): EmbeddedAws['mappings'][number];
  /**
   * Puts the right configuration in the place of a spoilt one, as an update of the function does: the mapping and its
   * positions stay.
   */
  repair(job: string): void;
  /** What functions have printed. */
  readonly printed: readonly string[];
  stop(): Promise<void>;
}

export async function startMoodyAws(jobs: readonly MoodyJob[]): Promise<MoodyAws> {
  const template = synthesizeMoodyJobs(jobs);
  const printed: string[] = [];
  const aws = await startEmbeddedAws({
    templateFile: template.file,
    log: (line) => printed.push(line),
    pace: { pollIntervalMsMax: 250, retryDelayMsMax: 100 },
  }).catch((error: unknown) => {
    template.remove();
    throw error;
  });
  const clients = createServiceClients(aws.endpoints, aws.region);
  const output = (job: string, what: string): string => aws.outputs[`${job}${what}`]!;
  const functionOf = (job: string) => aws.functions.get(output(job, 'Function'));
  const mappingOf = (job: string) =>
    aws.mappings.find(({ functionArn }) => functionArn === functionOf(job).arn)!;
  const scan = async (table: string): Promise<Row[]> => {
    const rows: Row[] = [];
    const pages = paginateScan(
      { client: clients.dynamodb },
      { TableName: table, ConsistentRead: true },
    );
    for await (const page of pages)
      rows.push(...(page.Items ?? []).map((item) => unmarshall(item)));
    return rows.sort((a, b) => (String(a['sk']) < String(b['sk']) ? -1 : 1));
  };

  return {
    aws,
    printed,
    async put(job, records) {
      const StreamName = output(job, 'Stream');
      const reply = await clients.kinesis.send(
        new PutRecordsCommand({ StreamName, Records: records.map(encodePut) }),
      );
      if (reply.FailedRecordCount !== 0) throw new Error('the stream took only a part');
    },
    whenDone: (job) => mappingOf(job).whenIdle({ timeoutMs: 110_000 }),
    invoke: (job, event) => aws.functions.invoke(output(job, 'Function'), event),
    async journal(job, account) {
      const rows = await scan(output(job, 'Journal'));
      return rows.filter(({ pk }) => pk === account).map((row) => row['history']);
    },
    async balance(job, account) {
      const rows = await scan(output(job, 'Balance'));
      return rows.find(({ pk }) => pk === account)?.['history'];
    },
    async deadLetters(job, partitionKey) {
      const rows = await scan(output(job, 'DeadLetters'));
      return rows.filter((row) => row['partitionKey'] === partitionKey);
    },
    async readObject(job, name) {
      const command = new GetObjectCommand({ Bucket: output(job, 'Bucket'), Key: name });
      const { Body } = await clients.s3.send(command);
      return (await Body?.transformToString()) ?? '';
    },
    functionOf,
    mappingOf,
    repair(job) {
      const spoilt = functionOf(job);
      const repaired = aws.functions.get(repairedId(spoilt.logicalId));
      spoilt.invoke = (payload, options) => repaired.invoke(payload, options);
    },
    async stop() {
      clients.destroy();
      await aws.stop();
      template.remove();
    },
  };
}

function encodePut(put: Put) {
  if ('kind' in put) return { PartitionKey: put.account, Data: Buffer.from(JSON.stringify(put)) };
  const { partitionKey, data, explicitHashKey } = put;
  return {
    PartitionKey: partitionKey,
    Data: Buffer.from(data),
    ...(explicitHashKey === undefined ? {} : { ExplicitHashKey: explicitHashKey }),
  };
}
