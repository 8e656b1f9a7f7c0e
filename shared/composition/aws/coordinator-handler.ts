import { createEmbeddedCheckpointMetrics } from '../../adapters/system/embedded-checkpoint-metrics.ts';
import { createEmbeddedMetrics } from '../../adapters/system/embedded-metrics.ts';
import { nodeSystem } from '../../adapters/system/node-system.ts';
import type { Checkpointing } from '../../config/checkpointing.ts';
import { readCoordinatorEnvironment } from '../../config/coordinator-environment.ts';
import type { CheckpointSettings } from '../../core/coordination.ts';
import {
  runCoordinator,
  type CoordinatorPorts,
  type CoordinatorReport,
} from '../../runtime/checkpoint/run-coordinator.ts';
import { deadlineAt } from '../../runtime/deadline.ts';
import { createAwsClients, hasOwnEndpoint } from './clients.ts';
import { openJob } from './job-tools.ts';
import { openShardReader } from './stream-access.ts';

/** A tick ends before the schedule's next one comes, ms. */
const tickMs = 55_000;

/** What of an invocation's time is kept back for the end of a tick, ms. */
const reserveMs = 10_000;

interface InvocationContext {
  getRemainingTimeInMillis(): number;
}

/**
 * Makes the handler of the coordinator, which a schedule invokes each minute. What the schedule sends does not matter.
 *
 * @throws ConfigurationError where the environment is not what StreamJob writes
 */
export function createCoordinatorHandler(
  env: Readonly<Record<string, string | undefined>> = process.env,
): (event: unknown, context: InvocationContext) => Promise<CoordinatorReport> {
  const environment = readCoordinatorEnvironment(env);
  const { job, streamArn } = environment;
  const clients = createAwsClients(hasOwnEndpoint(env));
  const system = nodeSystem;
  const telemetry = createEmbeddedMetrics({ job, system });
  const ports: CoordinatorPorts = {
    ...openJob(clients, environment, telemetry),
    reader: openShardReader(clients.kinesis, streamArn),
    metrics: createEmbeddedCheckpointMetrics({ job, system }),
  };
  const settings = readSettings(environment.checkpointing);
  return async (_event, context) => {
    const leftMs = Math.min(tickMs, context.getRemainingTimeInMillis() - reserveMs);
    return runCoordinator(ports, settings, deadlineAt(system, system.now() + leftMs));
  };
}

/** Of the configuration, which counts in seconds. */
export function readSettings(checkpointing: Checkpointing): CheckpointSettings {
  const { intervalSeconds, timeoutSeconds, minPauseSeconds, ...counts } = checkpointing;
  return {
    ...counts,
    intervalMs: intervalSeconds * 1_000,
    timeoutMs: timeoutSeconds * 1_000,
    minPauseMs: minPauseSeconds * 1_000,
  };
}
