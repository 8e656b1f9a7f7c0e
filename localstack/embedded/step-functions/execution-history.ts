import type { JsonObject } from './json-value.ts';
import { runtimeError } from './state-error.ts';

/** A Standard execution has no more events; it fails with the last of them. */
export const EVENTS_MAX = 25_000;

/** One event as GetExecutionHistory answers it. */
export interface HistoryEvent {
  /** From 1, without gaps. */
  readonly id: number;
  /** The event that led to this one; 0 for the first. */
  readonly previousEventId: number;
  readonly type: string;
  readonly timeMs: number;
  /** The member that holds what belongs to this type of event, and its value; absent where there is nothing to say. */
  readonly details: { readonly member: string; readonly value: JsonObject } | undefined;
}

/** Where one line of events stands: the execution itself, or one iteration of a Map. */
export interface HistoryCursor {
  lastId: number;
}

export interface ExecutionHistory {
  readonly events: readonly HistoryEvent[];
  /** Returns the id. Throws States.Runtime if only the event that ends the execution still has room. */
  add(type: string, details: JsonObject | undefined, cursor: HistoryCursor): number;
  /** Adds the event that ends the execution. */
  end(type: string, details: JsonObject): void;
}

export function createExecutionHistory(nowMs: () => number): ExecutionHistory {
  const events: HistoryEvent[] = [];
  const append = (type: string, value: JsonObject | undefined, previousEventId: number): number => {
    const id = events.length + 1;
    const details = value === undefined ? undefined : { member: memberOf(type), value };
    events.push({ id, previousEventId, type, timeMs: nowMs(), details });
    return id;
  };
  return {
    events,
    add(type, details, cursor) {
      if (events.length >= EVENTS_MAX - 1) {
        throw runtimeError(
          `The execution reached the maximum number of history events (${EVENTS_MAX}).`,
        );
      }
      const id = append(type, details, cursor.lastId);
      cursor.lastId = id;
      return id;
    },
    end: (type, details) => void append(type, details, events.length),
  };
}

/** States of all types share the members of entering and leaving. */
function memberOf(type: string): string {
  if (type.endsWith('StateEntered')) return 'stateEnteredEventDetails';
  if (type.endsWith('StateExited')) return 'stateExitedEventDetails';
  return `${type.charAt(0).toLowerCase()}${type.slice(1)}EventDetails`;
}
