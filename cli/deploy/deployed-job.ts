import { createAwsClients, hasOwnEndpoint } from '../../shared/composition/aws/clients.ts';
import { openDeadLetters } from '../../shared/composition/aws/dead-letters.ts';
import { openJob } from '../../shared/composition/aws/job-tools.ts';
import { openShardReader } from '../../shared/composition/aws/stream-access.ts';
import type { JobNames } from '../../shared/config/job-names.ts';
import type { CheckpointPorts } from '../../shared/runtime/checkpoint/manifest-facts.ts';
import type { ShardReader } from '../../shared/ports/shard-reader.ts';
import { commandTelemetry } from '../job-flags.ts';

/** What a deployment looks at in the job that it is about. */
export interface DeployedJob {
  readonly ports: CheckpointPorts;
  readonly reader: ShardReader;
  readonly letters: ReturnType<typeof openDeadLetters>;
}

/** Opens a job, and closes its connections behind the run. */
export async function withDeployedJob<Result>(
  names: JobNames,
  run: (job: DeployedJob) => Promise<Result>,
): Promise<Result> {
  const clients = createAwsClients(hasOwnEndpoint(process.env));
  try {
    return await run({
      ports: openJob(clients, names, commandTelemetry),
      reader: openShardReader(clients.kinesis, names.streamArn),
      letters: openDeadLetters(clients.dynamodb, names.deadLetterTable),
    });
  } finally {
    clients.dynamodb.destroy();
    clients.kinesis.destroy();
    clients.s3.destroy();
  }
}
