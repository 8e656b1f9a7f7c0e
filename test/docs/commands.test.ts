import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../cli/program.ts';
import { checkCommandLine, listCommandLines } from './command-lines.ts';

const project = resolve(import.meta.dirname, '..', '..');
const program = createProgram((error) => {
  throw error;
});
const documents = ['README.md', ...globSync('docs/*.md', { cwd: project }).toSorted()].map(
  (name) => [name, listCommandLines(readFileSync(join(project, name), 'utf8'))] as const,
);

describe('every command in the documents', () => {
  it.each(documents.filter(([, lines]) => lines.length > 0))(
    'is one that there is: %s',
    (_, lines) => {
      const wrong = lines.flatMap((line) => {
        const problem = checkCommandLine(program, line);
        return problem === undefined ? [] : [`holdfast ${line}: ${problem}`];
      });
      expect(wrong).toEqual([]);
    },
  );

  it('is found, in the front door and in the manuals', () => {
    const counts = new Map(documents.map(([name, lines]) => [name, lines.length]));
    expect(counts.get('README.md')).toBeGreaterThan(15);
    expect(counts.get('docs/deploying.md')).toBeGreaterThan(4);
    expect(counts.get('docs/runbook.md')).toBeGreaterThan(20);
  });
});

describe('a command that is wrong', () => {
  it.each([
    ['restart', 'there is no command restart'],
    ['savepoint make x', 'savepoint has no make'],
    ['savepoint', 'savepoint has no action'],
    ['resume --end-hold', 'resume has no option --end-hold'],
    ['restore x --name', '--name of restore needs a value'],
    ['savepoint create --note "two words"', 'create takes 1 to 1 arguments, not 0'],
    ['status now', 'status takes 0 to 0 arguments, not 1'],
  ])('is found: %s', (line, problem) => {
    expect(checkCommandLine(program, line)).toBe(problem);
  });

  it('is told from one that is right', () => {
    const line = 'savepoint create before-v2 --note "two words" --tag a=b --stop --json';
    expect(checkCommandLine(program, line)).toBeUndefined();
    const text = 'run `npx holdfast status --json`, or:\n\nnpx holdfast resume   # goes on\n';
    expect(listCommandLines(text)).toEqual(['status --json', 'resume']);
  });
});
