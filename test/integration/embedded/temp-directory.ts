import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { onTestFinished } from 'vitest';

/** A new empty directory that goes with the test. */
export function tempDirectory(): string {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'embedded-aws-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
