import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Waits for the first line that a process prints. */
export async function readFirstLine(child: ChildProcess, what: string): Promise<string> {
  const lines = createInterface({ input: child.stdout! });
  try {
    const ended = new AbortController();
    const first = await Promise.race([
      once(lines, 'line', { signal: ended.signal }),
      once(child, 'exit', { signal: ended.signal }).then(() => undefined),
    ]);
    ended.abort();
    if (first !== undefined) return first[0] as string;
    throw new Error(`${what} ended before they said anything`);
  } finally {
    lines.close();
    // What it prints later is let go, so that it never waits for a reader.
    child.stdout!.resume();
  }
}
