import { describeThrown } from '../core/errors.ts';
import { hasFiredKey, type TimeDomain } from '../core/timer.ts';
import type { Hint } from '../ports/hint-store.ts';
import type { ChannelSession } from './channel-session.ts';
import { isHintDue } from './due-keys.ts';
import type { OperatorRuntime } from './operator-runtime.ts';
import { earliestTimers, type KeyRun } from './run-key.ts';
import { stateScope } from './state-scope.ts';
import type { Unit } from './unit.ts';

const domains: readonly TimeDomain[] = ['event', 'arrival'];

/**
 * P12: sees to it that the earliest timer of every touched key has a hint, before progress says so. One hint for each key
 * and domain is enough: when it fires the key is touched, and the next timer gets its own.
 */
export async function insertHints(
  runtime: OperatorRuntime,
  session: ChannelSession,
  unit: Unit,
): Promise<void> {
  const hints = [...unit.runs.values()].flatMap(missingHints);
  if (hints.length === 0) return;
  await runtime.hints.insert(stateScope(runtime, session), hints);
}

function missingHints(run: KeyRun): Hint[] {
  if (run.timers.length === 0) return [];
  const earliest = earliestTimers(run);
  const { key, hash: keyHash } = run.place;
  return domains.flatMap((domain) => {
    const time = earliest[domain];
    return time === undefined || time === run.hinted[domain]
      ? []
      : [{ domain, time, key, keyHash }];
  });
}

/**
 * P12: removes the hints whose timers the committed progress has passed, at any time after it: a timer that is registered for
 * such a time later fires right behind its record, and is not left to hints (`isLeftOverdue`). Where the removal fails, the
 * hint wakes its key once more for nothing.
 */
export async function removeFiredHints(
  runtime: OperatorRuntime,
  session: ChannelSession,
  unit: Unit,
): Promise<void> {
  const { watermarks, firing } = unit.end;
  if (firing === 'none') return;
  const fired = unit.due.hints.filter((hint) => {
    const isPassed = isHintDue(session, watermarks, hint);
    return isPassed && (firing === undefined || hasFiredKey(hint, firing));
  });
  if (fired.length === 0) return;
  try {
    await runtime.hints.remove(stateScope(runtime, session), fired);
  } catch (thrown) {
    runtime.telemetry.log('warn', 'hints of fired timers could not be removed', {
      channel: session.id,
      hints: fired.length,
      error: describeThrown(thrown),
    });
  }
}
