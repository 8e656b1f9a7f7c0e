import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { kinds } from '../kinds.ts';
import { applyMutant } from './mutant.ts';
import { writeReport } from './mutant-report.ts';
import { mutants } from './mutants.ts';
import { unreachableRules } from './unreachable.ts';

const project = resolve(import.meta.dirname, '..', '..', '..');
const read = (file: string): string => readFileSync(resolve(project, file), 'utf8');

describe('the mutants', () => {
  it('change what is in the sources, exactly once', () => {
    const problems = mutants.flatMap((mutant) => {
      const source = read(mutant.file);
      try {
        return applyMutant(source, mutant) === source ? [`${mutant.what} changes nothing`] : [];
      } catch (error) {
        return [String(error)];
      }
    });
    expect(problems).toEqual([]);
  });

  it('say who has to notice: a kind of runs, or a test that is there', () => {
    const noticers = new Set(mutants.map(({ noticedBy = 'data-path' }) => noticedBy));
    const unknown = [...noticers].filter(
      (one) => !(kinds as readonly string[]).includes(one) && !existsSync(resolve(project, one)),
    );
    expect(unknown).toEqual([]);
  });

  it('have names of their own within their rule', () => {
    const names = mutants.map(({ rule, what }) => `${rule}: ${what}`);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });

  it('break no rule that is said to be out of reach', () => {
    const broken = new Set(mutants.map(({ rule }) => rule));
    expect(unreachableRules.filter(({ rule }) => broken.has(rule))).toEqual([]);
  });
});

describe('the report', () => {
  it('has a line for each verdict, whatever a finding quotes', async () => {
    const [mutant] = mutants;
    const report = await writeReport(
      [
        { mutant: mutant!, kind: 'caught', by: 'data-path, seed 3', finding: 'a|b is *c* <d>\ne' },
        { mutant: mutant!, kind: 'survived', finding: '' },
      ],
      [{ rule: 'P99', reason: 'nothing does it' }],
      { seeds: 10, file: resolve(project, 'test/simulation/mutations.md') },
    );
    const lines = report.split('\n').filter((line) => line.startsWith('|'));
    expect(lines[2]).toMatch(/\| data-path, seed 3 +\| a\\\|b is \\\*c\\\* \\<d\\> e +\|$/);
    expect(lines[3]).toMatch(/\| \*\*survived\*\* +\| +\|$/);
    expect(report).toMatch(/\| P99 +\| nothing does it +\|/);
    expect(report).toContain('1 of 2 changes were noticed');
  });
});
