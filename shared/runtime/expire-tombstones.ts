import { describeThrown } from '../core/errors.ts';
import { isPast, type Position } from '../core/position.ts';
import type { StoredItem } from '../core/stored-item.ts';
import type { ChannelSession } from './channel-session.ts';
import type { OperatorRuntime } from './operator-runtime.ts';
import type { KeyRun } from './run-key.ts';
import { stateScope } from './state-scope.ts';

/** How long after the end of retention a tombstone stays, s. */
const marginSeconds = 24 * 3600;

/** A key without states can still have something to wait for. */
function isTombstone({ states, timers }: StoredItem): boolean {
  return states === undefined && timers.length === 0;
}

/**
 * P14: lets DynamoDB collect the tombstones that progress has passed. Until their records have left the stream they
 * still tell a late redelivery that it has been applied.
 *
 * Nothing depends on it: where it fails, the key's next unit tries again.
 */
export async function expireTombstones(
  runtime: OperatorRuntime,
  session: ChannelSession,
  runs: Iterable<KeyRun>,
  end: Position,
): Promise<void> {
  const retentionSeconds = (runtime.memory.stream?.retentionHours ?? 24) * 3600;
  const tombstones = [...runs].flatMap(({ place, stored }) => {
    if (stored === undefined || !isTombstone(stored) || isPast(stored.position, end)) return [];
    const expiresAtSeconds = Math.ceil(stored.arrivalMs / 1000) + retentionSeconds + marginSeconds;
    return [{ ...place, version: stored.version, expiresAtSeconds }];
  });
  if (tombstones.length === 0) return;
  try {
    await runtime.state.expireTombstones(stateScope(runtime, session), tombstones);
  } catch (thrown) {
    runtime.telemetry.log('warn', 'tombstones could not be given their time to live', {
      channel: session.id,
      tombstones: tombstones.length,
      error: describeThrown(thrown),
    });
  }
}
