import type { OperatorEnvironment } from '../../../shared/config/environment.ts';
import { createMemoryTelemetry } from '../../../shared/adapters/memory/memory-telemetry.ts';
import { createAwsRuntime } from '../../../shared/composition/aws/operator-runtime.ts';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';
import { defaultSettings, type OperatorRuntime } from '../../../shared/runtime/operator-runtime.ts';
import { processBatch } from '../../../shared/runtime/process-batch.ts';
import { bulkyLedger } from './bulky-ledger.ts';
import type { Input } from './input.ts';

export const jobName = 'crash';
export const maxParallelism = 8;

export const tableRoles = ['state', 'control', 'journal', 'balance', 'dead-letters'] as const;
export type TableRole = (typeof tableRoles)[number];

/** Each job has tables and a bucket of its own; all have the same name, so that their rows can be compared. */
export function tableName(jobId: string, role: TableRole): string {
  return `${jobId}.${role}`;
}

export function bucketName(jobId: string): string {
  return `${jobId}.checkpoints`;
}

/**
 * The ledger's runtime as its function makes it, over the endpoints that the process's environment names. Only the
 * stream comes from memory.
 */
export function openRuntime(
  jobId: string,
  input: Input,
  telemetry: Telemetry = createMemoryTelemetry(),
): OperatorRuntime {
  const environment: OperatorEnvironment = {
    job: jobName,
    operator: bulkyLedger.id,
    streamArn: 'arn:aws:kinesis:us-east-1:000000000000:stream/entries',
    stateTable: tableName(jobId, 'state'),
    controlTable: tableName(jobId, 'control'),
    deadLetterTable: tableName(jobId, 'dead-letters'),
    bucket: bucketName(jobId),
    maxParallelism,
    sinks: new Map([
      ['journal', tableName(jobId, 'journal')],
      ['balance', tableName(jobId, 'balance')],
    ]),
    retentionHours: 24,
  };
  const runtime = createAwsRuntime(bulkyLedger, environment, {
    hasOwnEndpoint: true,
    settings: defaultSettings,
    determinism: 'count',
  });
  return { ...runtime, reader: input.reader, telemetry };
}

/** More deliveries than this mean that the job does not come to an end. */
const deliveriesMax = 100;

/** Delivers records as an event source mapping does, one batch after the other, until all are acknowledged. */
export async function deliverAll(
  runtime: OperatorRuntime,
  { shardId, records }: Input,
  batchRecords: number,
  from = 0,
): Promise<void> {
  let done = from;
  for (let deliveries = 0; done < records.length; deliveries += 1) {
    if (deliveries === deliveriesMax) throw new Error(`stuck after ${done} records`);
    const batch = records.slice(done, done + batchRecords);
    const outcome = await processBatch(runtime, shardId, batch, { remainingMs: () => 60_000 });
    done =
      outcome.kind === 'done'
        ? done + batch.length
        : records.findIndex(({ sequence }) => sequence === outcome.fromSequence);
  }
}
