import { SingleBar } from 'cli-progress';

/** Where an execution is. */
export interface Progress {
  /** The name of its state. */
  readonly state: string;
  /** Parts or bytes that are done, of how many; undefined where it is one thing. */
  readonly done?: number;
  readonly total?: number;
}

export interface ProgressDisplay {
  show(progress: Progress): void;
  end(): void;
}

/** A progress bar on terminals, a line for each state elsewhere; both on standard error, so that standard output holds results alone. */
export function createProgressDisplay(
  stream: NodeJS.WriteStream = process.stderr,
): ProgressDisplay {
  return stream.isTTY ? createBar(stream) : createLines();
}

function createLines(): ProgressDisplay {
  let shown = '';
  return {
    show({ state, total }) {
      if (state === shown) return;
      shown = state;
      console.error(total === undefined ? state : `${state}, ${total} in all`);
    },
    end: () => undefined,
  };
}

function createBar(stream: NodeJS.WriteStream): ProgressDisplay {
  const bar = new SingleBar({
    format: '{bar} {state}',
    barsize: 30,
    hideCursor: true,
    clearOnComplete: true,
    stream,
  });
  let isShown = false;
  return {
    show({ state, done = 0, total = 1 }) {
      if (!isShown) bar.start(total, done, { state });
      isShown = true;
      bar.setTotal(Math.max(total, 1));
      bar.update(done, { state });
    },
    end() {
      if (isShown) bar.stop();
      isShown = false;
    },
  };
}
