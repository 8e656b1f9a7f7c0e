import { createDynamodbControlStore } from '../../adapters/dynamodb/dynamodb-control-store.ts';
import { createS3ObjectStore } from '../../adapters/s3/s3-object-store.ts';
import { nodeSystem } from '../../adapters/system/node-system.ts';
import type { BackupLocation } from '../../config/backup-location.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import type { CheckpointPorts } from '../../runtime/checkpoint/manifest-facts.ts';
import type { AwsClients } from './clients.ts';
import { openOperatorCalls } from './operator-calls.ts';

/** Where a deployed job is. */
export interface JobPlace {
  readonly job: string;
  readonly controlTable: string;
  readonly bucket: string;
  /** Operator → name or ARN of its function. */
  readonly operatorFunctions: ReadonlyMap<string, string>;
  /** What takes second copies. @default none */
  readonly backup?: BackupLocation | undefined;
}

/** What it takes to look after a deployed job from outside of its operators. */
export function openJob(
  clients: Pick<AwsClients, 'dynamodb' | 's3'>,
  { job, controlTable, bucket, operatorFunctions, backup }: JobPlace,
  telemetry: Telemetry,
): CheckpointPorts {
  const system = nodeSystem;
  return {
    job,
    control: createDynamodbControlStore({ client: clients.dynamodb, table: controlTable, system }),
    objects: createS3ObjectStore({ client: clients.s3, bucket, system }),
    ...(backup !== undefined && {
      backup: createS3ObjectStore({ client: clients.s3, ...backup, system }),
    }),
    calls: openOperatorCalls(operatorFunctions),
    system,
    telemetry,
  };
}
