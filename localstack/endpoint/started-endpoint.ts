import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as z from 'zod';
import { products } from './products.ts';
import { filesOfPort } from './project-folder.ts';

const record = z.discriminatedUnion('kind', [
  /** A process that leads a group of its own. */
  z.object({ kind: z.literal('process'), pid: z.number().int().positive(), command: z.string() }),
  z.object({ kind: z.literal('compose'), product: z.enum(products) }),
]);

/** What was started on a port by these tools, and is theirs to stop. */
export type StartedEndpoint = z.infer<typeof record>;

/** Undefined where nothing was. */
export async function readStarted(port: number): Promise<StartedEndpoint | undefined> {
  try {
    return record.parse(JSON.parse(await readFile(filesOfPort(port).record, 'utf8')));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

export async function writeStarted(port: number, started: StartedEndpoint): Promise<void> {
  const { record: file } = filesOfPort(port);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(started)}\n`);
}

/** The log stays, for whoever wants to know what it was. */
export async function forgetStarted(port: number): Promise<void> {
  const { record: file, temporary } = filesOfPort(port);
  await rm(temporary, { recursive: true, force: true });
  await rm(file, { force: true });
}
