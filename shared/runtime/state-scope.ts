import type { StateScope } from '../ports/state-store.ts';
import type { ChannelSession } from './channel-session.ts';
import type { OperatorRuntime } from './operator-runtime.ts';

/** Where a session's items and hints live. */
export function stateScope(runtime: OperatorRuntime, session: ChannelSession): StateScope {
  return {
    job: runtime.job,
    generation: session.progress.generation,
    operator: runtime.operator.id,
  };
}
