import { describeThrown } from '../core/errors.ts';
import type { Position } from '../core/position.ts';
import { recordReturn, recordThrow, type AttemptHistory } from '../core/suspicion.ts';
import type { Suspicion } from '../ports/control-store.ts';
import type { ChannelSession } from './channel-session.ts';
import type { OperatorRuntime } from './operator-runtime.ts';

/** A session's view of the channel's announcements (P15). */
export interface SuspicionLog {
  /** The id under which this session announces its attempts. */
  readonly id: string;
  /** What this session has read or written, without asking the store. */
  known(): AttemptHistory | undefined;
  /** Reads the announcement that stands, once. */
  read(): Promise<AttemptHistory | undefined>;
  /** Writes an announcement; acknowledged before the attempt begins. */
  announce(next: AttemptHistory): Promise<void>;
  /** Takes the announcement away, as the attempt came back. Failing that, one attempt more than there was is counted. */
  settle(): Promise<void>;
  /**
   * Writes that what was tried at a position threw: the record after it, or the timer at it; true where that was once too
   * often.
   */
  recordThrow(position: Position | undefined, reason: string): Promise<boolean>;
  /** The channel has moved on, or its next record is condemned: what is known says nothing any more. */
  forget(): void;
}

/** How many times an announcement is taken away, against other writers and where no answer comes. */
const settleTriesMax = 3;

export function createSuspicionLog(
  runtime: OperatorRuntime,
  session: ChannelSession,
): SuspicionLog {
  const id = runtime.system.randomId();
  let stored: Suspicion | undefined;
  let isRead = false;
  let isForgotten = false;
  let isUnderWay = false;

  const reread = async (): Promise<void> => {
    const { generation } = session.progress;
    stored = await runtime.control.readSuspicion(runtime.job, generation, session.channel);
    isRead = true;
  };
  const read = async (): Promise<AttemptHistory | undefined> => {
    if (!isRead) await reread();
    return isForgotten ? undefined : stored;
  };

  /** False where another invocation wrote first: its announcement is `stored` then. */
  const write = async (next: AttemptHistory): Promise<boolean> => {
    const suspicion = { ...next, version: (stored?.version ?? 0) + 1 };
    const { generation } = session.progress;
    const outcome = await runtime.control.writeSuspicion(
      runtime.job,
      generation,
      session.channel,
      suspicion,
    );
    if (outcome === 'committed') stored = suspicion;
    else await reread();
    return outcome === 'committed';
  };

  return {
    id,
    known: () => (isForgotten ? undefined : stored),
    read,
    announce: async (next) => {
      isForgotten = false;
      isUnderWay = true;
      // Where somebody else was faster, theirs stands, and this attempt is one that is not counted.
      await write(next);
    },
    settle: async () => {
      if (!isUnderWay) return;
      isUnderWay = false;
      let reason = 'others have written each time';
      for (let tries = 0; tries < settleTriesMax; tries += 1) {
        try {
          const next = stored === undefined ? undefined : recordReturn(stored, id);
          if (next === undefined || (await write(next))) return;
        } catch (thrown) {
          // Tried again all the same: what is not taken away counts against a record that is innocent.
          reason = describeThrown(thrown);
        }
      }
      const fields = { channel: session.id, error: reason };
      runtime.telemetry.log('warn', 'an attempt could not be marked as returned', fields);
    },
    recordThrow: async (position, reason) => {
      isUnderWay = false;
      await read();
      const next = recordThrow(stored, position, id, reason);
      if (next.throws >= runtime.settings.attemptsMax) return true;
      await write(next);
      return false;
    },
    forget: () => {
      isForgotten = true;
      isUnderWay = false;
    },
  };
}
