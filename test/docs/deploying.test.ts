import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  COORDINATOR_PERMISSIONS,
  HEARTBEAT_PERMISSIONS,
  OPERATOR_PERMISSIONS,
  REGISTRAR_PERMISSIONS,
  STEP_PERMISSIONS,
} from '../../infra/permissions.ts';

const run = promisify(execFile);
const project = path.resolve(import.meta.dirname, '..', '..');
const manual = await readFile(path.join(project, 'docs/deploying.md'), 'utf8');

/** Commands of the manual that begin so, each once: up to the end of its line or of its backticks. */
function listCommands(begins: string): string[] {
  const found = manual.matchAll(new RegExp(`${begins} ([^\`\\n#]+)`, 'g'));
  return [...new Set([...found].map(([, rest]) => rest!.trim()))];
}

/** The help of a command, or of the command that it is a part of where its words are arguments. */
async function readHelp(words: readonly string[]): Promise<string> {
  const cli = path.join(project, 'cli/holdfast.mjs');
  const { stdout } = await run(process.execPath, [cli, ...words, '--help'], { cwd: project });
  return stdout;
}

describe('docs/deploying.md', { timeout: 120_000 }, () => {
  it('names at least what an upgrade takes', () => {
    const commands = listCommands('npx holdfast').map((line) => line.split(' ')[0]);
    expect(new Set(commands)).toEqual(
      new Set(['status', 'savepoint', 'restore', 'drill', 'deploy']),
    );
  });

  it('names an endpoint for each service that functions call', () => {
    const [, table] = /^\| service +\|[^\n]+\n([\s\S]+?)\n\n/m.exec(manual)!;
    const named = [...table!.matchAll(/^\| (\w+) +\| (?:gateway|interface) /gm)];
    const rights = [
      ...[...OPERATOR_PERMISSIONS, ...REGISTRAR_PERMISSIONS, ...HEARTBEAT_PERMISSIONS],
      ...[...COORDINATOR_PERMISSIONS, ...STEP_PERMISSIONS],
    ].flatMap(({ actions }) => actions.map((action) => action.split(':')[0]!));
    // Lambda sends logs by itself; keys are used through other services alone.
    const called = new Set(rights.filter((service) => service !== 'logs' && service !== 'kms'));
    expect(new Set(named.map(([, name]) => name!.toLowerCase()))).toEqual(called);
  });

  it('names context that the app reads', async () => {
    const app = await readFile(path.join(project, 'infra/app.ts'), 'utf8');
    const context = [...manual.matchAll(/-c (\w+)=/g)].map(([, name]) => name!);
    expect(new Set(context)).toEqual(new Set(['stage', 'ephemeral', 'shards']));
    for (const name of context) expect(app).toContain(`tryGetContext('${name}')`);
  });

  it('names variables that the command line reads', async () => {
    const [, list] = /The names for the command line([\s\S]+?)\n\n/.exec(manual)!;
    const variables = [...list!.matchAll(/HOLDFAST_\w+/g)].map(([name]) => name);
    expect(variables).toHaveLength(7);
    const helps = await Promise.all(
      [['status'], ['checkpoint', 'trigger'], ['savepoint', 'create'], ['restore']].map(readHelp),
    );
    for (const name of variables) expect(helps.join().replace(/\s+/g, ' ')).toContain(name);
  });
});
