import { createInterface } from 'node:readline/promises';

/**
 * Asks a question on standard error, so that standard output holds results alone. True for `y` or `yes`; anything else is a
 * no, and so is the end of the input.
 */
export async function confirm(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new AbortController();
  terminal.once('close', () => ended.abort());
  try {
    const answer = await terminal.question(`${question} [y/N] `, { signal: ended.signal });
    return /^y(es)?$/i.test(answer.trim());
  } catch (thrown) {
    if (!ended.signal.aborted) throw thrown;
    process.stderr.write('\n');
    return false;
  } finally {
    terminal.close();
  }
}
