import { setTimeout as sleep } from 'node:timers/promises';
import {
  DescribeExecutionCommand,
  GetExecutionHistoryCommand,
  type HistoryEvent,
  type SFNClient,
} from '@aws-sdk/client-sfn';
import type { Progress } from './progress-display.ts';
import { createProgressDisplay } from './progress-display.ts';

/** How an execution ended. */
export interface Ending {
  readonly status: string;
  /** What it gives, where it succeeded. */
  readonly output: unknown;
  /** Why it failed, in words. */
  readonly reason: string;
}

const pollMs = 1_000;
const eventsOfPage = 1_000;

/** Follows an execution to its end and shows where it is. Ctrl-C ends the following, not the execution. */
export async function followExecution(
  stepFunctions: SFNClient,
  executionArn: string,
): Promise<Ending> {
  const display = createProgressDisplay();
  const onInterrupt = (): void => {
    display.end();
    console.error(
      `\nholdfast: the execution goes on; follow it with: holdfast follow ${executionArn}`,
    );
    process.exit(130);
  };
  process.once('SIGINT', onInterrupt);
  const tracker = createTracker();
  const history = createHistoryReader(stepFunctions, executionArn);
  try {
    for (;;) {
      const {
        status = '',
        output,
        error,
        cause,
      } = await stepFunctions.send(new DescribeExecutionCommand({ executionArn }));
      for (const event of await history()) {
        const progress = tracker(event);
        if (progress !== undefined) display.show(progress);
      }
      if (status === 'RUNNING') {
        await sleep(pollMs);
        continue;
      }
      const reason = status === 'SUCCEEDED' ? '' : (cause ?? error ?? status);
      return { status, reason, output: output === undefined ? undefined : JSON.parse(output) };
    }
  } finally {
    display.end();
    process.removeListener('SIGINT', onInterrupt);
  }
}

/** Gives the events that have come since the last call; pages that are read to their end are not read again. */
function createHistoryReader(
  stepFunctions: SFNClient,
  executionArn: string,
): () => Promise<HistoryEvent[]> {
  let nextToken: string | undefined;
  let lastId = 0;
  return async () => {
    const fresh: HistoryEvent[] = [];
    for (;;) {
      const page = await stepFunctions.send(
        new GetExecutionHistoryCommand({
          ...{ executionArn, maxResults: eventsOfPage },
          ...(nextToken === undefined ? {} : { nextToken }),
        }),
      );
      for (const event of page.events ?? []) {
        if ((event.id ?? 0) <= lastId) continue;
        lastId = event.id ?? lastId;
        fresh.push(event);
      }
      if (page.nextToken === undefined) return fresh;
      nextToken = page.nextToken;
    }
  };
}

/** Says of each event what it means for the progress; nothing where it means none. */
export function createTracker(): (event: HistoryEvent) => Progress | undefined {
  let state = '';
  let total: number | undefined;
  let done = 0;
  return (event) => {
    const entered = event.stateEnteredEventDetails?.name;
    switch (event.type) {
      case 'TaskStateEntered':
      case 'MapStateEntered':
        // A part of a Map, or a call more of a loop.
        if (entered === undefined || entered === state || entered.includes(':')) return undefined;
        state = entered;
        total = undefined;
        done = 0;
        return { state };
      case 'MapStateStarted':
        total = event.mapStateStartedEventDetails?.length ?? 0;
        return { state, done, total };
      case 'MapIterationSucceeded':
        done += 1;
        return { state, done, ...(total === undefined ? {} : { total }) };
      case 'TaskStateExited':
        return readBytes(state, event.stateExitedEventDetails?.output);
      default:
        return undefined;
    }
  };
}

const mergingStates = ['Merge the files', 'Copy the files'];

/** A merge says how many bytes it has done. */
function readBytes(state: string, output: string | undefined): Progress | undefined {
  if (!mergingStates.includes(state) || output === undefined) return undefined;
  const { merge, base, copy } = JSON.parse(output) as Partial<
    Record<'merge' | 'base' | 'copy', { readonly doneBytes: number; readonly totalBytes: number }>
  >;
  const bytes = merge ?? base ?? copy;
  if (bytes === undefined || bytes.totalBytes === 0) return undefined;
  return { state, done: bytes.doneBytes, total: bytes.totalBytes };
}
