import { SingleBar } from 'cli-progress';

/** Where a demonstration is. */
export interface StepDisplay {
  /** A step begins. */
  step(text: string): void;
  /** So many of all records are in the stream. */
  count(put: number, total: number, note?: string): void;
  end(): void;
}

/** A progress bar on terminals, a line for each step and each quarter of the records elsewhere; both on standard error. */
export function createStepDisplay(stream: NodeJS.WriteStream = process.stderr): StepDisplay {
  let bar: SingleBar | undefined;
  let shown = '';
  let quarter = 0;
  const end = (): void => {
    bar?.stop();
    bar = undefined;
  };
  return {
    end,
    step(text) {
      if (text === shown) return;
      end();
      shown = text;
      stream.write(`${text} …\n`);
    },
    count(put, total, note) {
      shown = '';
      if (stream.isTTY) {
        const payload = { note: note === undefined ? '' : ` · ${note}` };
        if (bar === undefined) {
          bar = new SingleBar({
            format: 'records [{bar}] {value}/{total}{note}',
            stream,
            hideCursor: true,
          });
          bar.start(total, put, payload);
        } else {
          bar.update(put, payload);
        }
        return;
      }
      const reached = Math.floor((4 * put) / total);
      if (reached <= quarter) return;
      quarter = reached;
      stream.write(`${put}/${total} records${note === undefined ? '' : `, ${note}`}\n`);
    },
  };
}
