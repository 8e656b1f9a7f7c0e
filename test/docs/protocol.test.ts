import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { mutants } from '../simulation/mutations/mutants.ts';

const project = resolve(import.meta.dirname, '..', '..');
const text = readFileSync(join(project, 'docs', 'protocol.md'), 'utf8');
const rules = [...text.matchAll(/^- \*\*([PCR]\d+)\b/gm)].map(([, rule]) => rule!);
const rows = [...text.matchAll(/^\| ([PCR]\d+) +\| (.+?) +\| (.+?) +\|$/gm)].map(
  ([, rule, enforcedIn, watchedBy]) => ({
    rule: rule!,
    sources: pathsOf(enforcedIn!).map((path) =>
      path.startsWith('infra/') ? path : `shared/${path}`,
    ),
    tests: pathsOf(watchedBy!).map((path) =>
      path.startsWith('scenarios/') ? `test/simulation/${path}` : `test/${path}`,
    ),
  }),
);

/** What is quoted and has a slash in it. */
function pathsOf(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+\/[^`]+)`/g)].map(([, path]) => path!);
}

it('has a row in its table for each of its rules, in their order', () => {
  expect(rules.length).toBeGreaterThan(30);
  expect(rows.map(({ rule }) => rule)).toEqual(rules);
});

it('names files and folders that are there', () => {
  const paths = rows.flatMap(({ sources, tests }) => [...sources, ...tests]);
  const lost = paths.filter(
    (path) => globSync(`${path}{,.ts,.test.ts,.contract.ts}`, { cwd: project }).length === 0,
  );
  expect(lost).toEqual([]);
});

it('has each rule enforced somewhere, and watched by mutants or tests', () => {
  const broken = new Set(mutants.map(({ rule }) => rule));
  const unwatched = rows.filter(
    ({ rule, sources, tests }) => sources.length === 0 || (tests.length === 0 && !broken.has(rule)),
  );
  expect(unwatched).toEqual([]);
  expect([...broken].filter((rule) => rule !== 'windows' && !rules.includes(rule))).toEqual([]);
});
