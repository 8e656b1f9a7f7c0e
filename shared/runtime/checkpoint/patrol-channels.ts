import { describeThrown, isHoldfastError } from '../../core/errors.ts';
import { choosePatrol, type PatrolVisit } from '../../core/patrol.ts';
import type { ShardReader } from '../../ports/shard-reader.ts';
import { inParallel } from '../in-parallel.ts';
import { readProgressOfAll } from './read-cut.ts';
import { readJob } from '../restore/hold.ts';
import type { CheckpointPorts } from './manifest-facts.ts';

export interface PatrolPorts extends CheckpointPorts {
  readonly reader: ShardReader;
}

/** Visits in one patrol, and at once: the next patrol goes on with the rest. */
export const visitsMax = 32;
const visitsAtOnce = 4;

const hourMs = 3600 * 1000;

/**
 * R7: visits channels that no record will bring forward. Each visit is one call of the operator's function; what it does not
 * reach in its time, the next patrol does.
 *
 * @returns how many channels are where they should be now
 */
export async function patrolChannels(ports: PatrolPorts): Promise<number> {
  const { operators, generation, hold } = await readJob(ports);
  if (hold !== undefined) return 0;
  const [{ incarnation, retentionHours }, shards, channels] = await Promise.all([
    ports.reader.describe(),
    ports.reader.listShards(),
    readProgressOfAll(ports, generation),
  ]);
  const visits = choosePatrol({
    operators,
    shards,
    channels: channels
      .filter(
        ({ channel: { stream } }) =>
          stream.name === incarnation.name && stream.createdAtMs === incarnation.createdAtMs,
      )
      .map(({ channel: { operator, shardId }, progress }) => ({ operator, shardId, progress })),
    retentionMs: retentionHours * hourMs,
    nowMs: ports.system.now(),
  });
  const arrived = await inParallel(visits.slice(0, visitsMax), visitsAtOnce, (visit) =>
    visitOne(ports, visit),
  );
  return arrived.filter(Boolean).length;
}

/** One channel that cannot be visited must not keep the others waiting. */
async function visitOne(
  { calls, telemetry }: PatrolPorts,
  { operator, shardId, reason }: PatrolVisit,
): Promise<boolean> {
  const fields = { operator, shard: shardId, patrol: reason };
  try {
    const report = await calls.visit(operator, { shardId, goal: { kind: 'tip' } });
    if (!report.isThere) {
      const level = report.isStuck ? 'error' : 'info';
      telemetry.log(level, 'a channel is not at its tip yet', { ...fields, why: report.reason });
    }
    return report.isThere;
  } catch (thrown) {
    const level = isHoldfastError(thrown, 'unavailable') ? 'warn' : 'error';
    telemetry.log(level, 'a channel could not be visited', {
      ...fields,
      why: describeThrown(thrown),
    });
    return false;
  }
}
