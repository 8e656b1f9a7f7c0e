import { describeThrown } from '../../shared/core/errors.ts';
import { stopOnSignals } from '../embedded/stop-signals.ts';

/** What a command has to take back when it ends, however that comes. */
export interface UndoList {
  /** Aborted as soon as it is taken back: what runs on behalf of the command ends. */
  readonly signal: AbortSignal;
  add(undo: () => Promise<unknown>): void;
  /** Nothing is to be taken back any more. */
  clear(): void;
  /** Takes all back, last first. Again, it waits for the same. */
  run(): Promise<void>;
}

/**
 * Runs a command that takes back what it has done where it fails or is stopped by Ctrl-C or SIGTERM; where it ends well, that
 * is its own business.
 */
export async function withUndo<Result>(
  command: (undo: UndoList) => Promise<Result>,
): Promise<Result> {
  const undo = createUndoList();
  let isStopped = false;
  const ignoreSignals = stopOnSignals({
    stop: () => {
      isStopped = true;
      console.error('\nstopping …');
      return undo.run();
    },
  });
  try {
    return await command(undo);
  } catch (error) {
    // The process ends with the code of its signal.
    if (isStopped) await new Promise(() => undefined);
    await undo.run();
    throw error;
  } finally {
    ignoreSignals();
  }
}

function createUndoList(): UndoList {
  const controller = new AbortController();
  const undos: (() => Promise<unknown>)[] = [];
  let running: Promise<void> | undefined;
  const runAll = async (): Promise<void> => {
    controller.abort();
    for (let undo = undos.pop(); undo !== undefined; undo = undos.pop()) {
      await undo().catch((error: unknown) => console.error(`localstack: ${describeThrown(error)}`));
    }
  };
  return {
    signal: controller.signal,
    add: (undo) => void undos.push(undo),
    clear: () => void undos.splice(0),
    run: () => (running ??= runAll()),
  };
}
