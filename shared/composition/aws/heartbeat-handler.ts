import { createEmbeddedMetrics } from '../../adapters/system/embedded-metrics.ts';
import { nodeSystem } from '../../adapters/system/node-system.ts';
import { readHeartbeatEnvironment } from '../../config/environment.ts';
import { sendHeartbeats, type SentHeartbeats } from '../../runtime/send-heartbeats.ts';
import { createKinesisClient } from './clients.ts';
import { openShardWriter } from './stream-access.ts';

/**
 * Makes the handler of the function that a schedule invokes: a heartbeat into every open shard of the stream that the
 * function's environment names. What the schedule sends does not matter.
 *
 * @throws ConfigurationError where the environment is not what StreamJob writes
 */
export function createHeartbeatHandler(): () => Promise<SentHeartbeats> {
  const environment = readHeartbeatEnvironment(process.env);
  const system = nodeSystem;
  const writer = openShardWriter(createKinesisClient(), environment.streamArn);
  const telemetry = createEmbeddedMetrics({ job: environment.job, system });

  return async () => {
    const sent = await sendHeartbeats({ writer, system }, environment.behindSeconds * 1_000);
    telemetry.log('info', 'heartbeats put', { ...sent });
    return sent;
  };
}
