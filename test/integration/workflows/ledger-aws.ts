import { fileURLToPath } from 'node:url';
import { paginateScan } from '@aws-sdk/client-dynamodb';
import { PutRecordsCommand } from '@aws-sdk/client-kinesis';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { Duration, RemovalPolicy, type Stack } from 'aws-cdk-lib/core';
import { StreamJob } from '../../../infra/stream-job.ts';
import type { StreamJobProps } from '../../../infra/stream-job-props.ts';
import { existingStream, provisionedStream } from '../../../infra/stream-source.ts';
import { moody } from '../bad-input/moody-operator.ts';
import { listJobOutputs } from '../embedded/job-outputs.ts';
import { startJobAws, type JobAws } from '../embedded/start-job-aws.ts';

const entry = fileURLToPath(new URL('../bad-input/moody-handler.ts', import.meta.url));

export const ledgerJob = 'ledger';

/** The names of outputs begin with this where they are the clone's. */
export type Prefix = '' | 'Twin';

type Row = Readonly<Record<string, unknown>>;

/** All that a reader of the sinks sees, sorted. */
export interface VisibleRows {
  readonly journal: string[];
  readonly balance: string[];
  readonly deadLetters: string[];
}

/** The embedded AWS with one job: each account's rows hold the history of its events, in order. */
export interface LedgerAws extends JobAws {
  /** Puts events `from` to `to`, dealt out to some accounts; every seventh cannot be decoded. */
  put(from: number, to: number): Promise<void>;
  /** Resolves when everything that was put is acknowledged. */
  whenDone(prefix?: Prefix): Promise<void>;
  visible(prefix?: Prefix): Promise<VisibleRows>;
  /** What a plain computation over events 1 to `to` gives. */
  expected(to: number): VisibleRows;
  /** Items of the state table that are of a generation. */
  stateItems(generation: number): Promise<string[]>;
  output(name: string): string;
}

const accounts = ['ann', 'bob', 'cid', 'dee', 'eve'];
const accountOf = (id: number): string => accounts[id % accounts.length]!;
const isPoison = (id: number): boolean => id % 7 === 0;

function addLedger(
  stack: Stack,
  id: string,
  props: Pick<StreamJobProps, 'jobName' | 'source' | 'cloneOf'>,
): StreamJob {
  return new StreamJob(stack, id, {
    ...props,
    operators: [
      {
        id: moody.id,
        entry,
        sinks: { journal: 'append', balance: 'upsert' },
        batchingWindow: Duration.seconds(0),
        memorySize: 128,
      },
    ],
    maxParallelism: 8,
    checkpointing: { backup: { prefix: 'backup/' } },
    removalPolicy: RemovalPolicy.DESTROY,
  });
}

/** A job on the stream of the first one, which is to begin as a clone of it. */
function addTwin(stack: Stack, of: StreamJob): Record<string, string> {
  const source = existingStream(of.stream, { retention: Duration.hours(24) });
  const twin = addLedger(stack, 'Twin', { jobName: `${ledgerJob}-b`, source, cloneOf: of });
  return Object.fromEntries(
    Object.entries(listOutputs(twin)).map(([name, value]) => [`Twin${name}`, value]),
  );
}

function listOutputs(job: StreamJob): Record<string, string> {
  return {
    ...listJobOutputs(job, moody.id),
    Journal: job.sinkTable('journal').tableName,
    Balance: job.sinkTable('balance').tableName,
  };
}

export async function startLedgerAws({ hasTwin = false } = {}): Promise<LedgerAws> {
  const addTo = (stack: Stack): Record<string, string> => {
    const source = provisionedStream({ shards: 2 });
    const job = addLedger(stack, 'Job', { jobName: ledgerJob, source });
    return { ...listOutputs(job), ...(hasTwin ? addTwin(stack, job) : {}) };
  };
  const started = await startJobAws('Ledger', addTo, {
    stateMachineSpeed: 10,
    // The coordinator has tests of its own.
    scheduleSpeed: 0,
  });
  const { aws, clients } = started;
  const output = (name: string): string => aws.outputs[name]!;
  const scan = async (table: string): Promise<Row[]> => {
    const rows: Row[] = [];
    const pages = paginateScan(
      { client: clients.dynamodb },
      { TableName: table, ConsistentRead: true },
    );
    for await (const page of pages)
      rows.push(...(page.Items ?? []).map((item) => unmarshall(item)));
    return rows;
  };
  const show = (rows: readonly Row[]): string[] =>
    rows.map((row) => `${String(row['pk'])} ${String(row['history'])}`).sort();

  return {
    ...started,
    output,
    async put(from, to) {
      const ids = Array.from({ length: to - from + 1 }, (_, at) => from + at);
      const reply = await clients.kinesis.send(
        new PutRecordsCommand({
          StreamName: output('Stream'),
          Records: ids.map((id) => ({
            PartitionKey: accountOf(id),
            Data: Buffer.from(
              isPoison(id) ? `{${id}` : JSON.stringify({ account: accountOf(id), id, kind: 'add' }),
            ),
          })),
        }),
      );
      if (reply.FailedRecordCount !== 0) throw new Error('the stream took only a part');
    },
    whenDone: (prefix = '') =>
      aws.mappings[prefix === '' ? 0 : 1]!.whenIdle({ timeoutMs: 110_000 }),
    async visible(prefix = '') {
      return {
        journal: show(await scan(output(`${prefix}Journal`))),
        balance: show(await scan(output(`${prefix}Balance`))),
        deadLetters: (await scan(output(`${prefix}DeadLetters`)))
          .map((row) => Buffer.from(row['data'] as Uint8Array).toString())
          .sort(),
      };
    },
    expected(to) {
      const histories = new Map<string, string>();
      const journal: string[] = [];
      const deadLetters: string[] = [];
      for (let id = 1; id <= to; id += 1) {
        const account = accountOf(id);
        if (isPoison(id)) {
          deadLetters.push(`{${id}`);
          continue;
        }
        const history = `${histories.get(account) ?? ''}/${id}`;
        histories.set(account, history);
        journal.push(`${account} ${history}`);
      }
      const balance = [...histories].map(([account, history]) => `${account} ${history}`);
      return {
        journal: journal.sort(),
        balance: balance.sort(),
        deadLetters: deadLetters.sort(),
      };
    },
    async stateItems(generation) {
      const items = await scan(output('State'));
      const scope = `${ledgerJob}#${generation}#`;
      return items
        .map(({ pk, sk }) => `${String(pk)} ${String(sk)}`)
        .filter((name) => name.includes(scope));
    },
  };
}
