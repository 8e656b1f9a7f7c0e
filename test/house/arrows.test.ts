import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  allowedTrials,
  dependencies,
  devDependencies,
  refusedTrials,
  targets,
  type Trial,
  undeclaredPackages,
} from './arrow-trials.ts';
import { listSources, projectRoot, sourceFolders } from './project-files.ts';

interface Rule {
  readonly name: string;
  readonly from: { readonly path?: string; readonly pathNot?: string };
}

interface Violation {
  readonly rule: { readonly name: string };
  readonly from: string;
}

const configFile = path.join(projectRoot, '.dependency-cruiser.cjs');
const { forbidden } = createRequire(import.meta.url)(configFile) as { forbidden: readonly Rule[] };

/** About modules that are not reached, as no trial is. */
const reachRules = ['no-dead-modules', 'no-untested-modules'];

let root: string;
let violations: readonly Violation[];
const fileOf = new Map<Trial, string>();

beforeAll(() => {
  root = mkdtempSync(path.join(tmpdir(), 'holdfast-arrows-'));
  for (const [file, text] of Object.entries(targets)) write(file, `${text}\nexport {};\n`);
  for (const name of [...dependencies, ...devDependencies, ...undeclaredPackages]) {
    writePackage(name);
  }
  write(
    'package.json',
    JSON.stringify({ dependencies: pins(dependencies), devDependencies: pins(devDependencies) }),
  );
  for (const trial of [...Object.values(refusedTrials).flat(), ...allowedTrials]) writeTrial(trial);

  const depcruise = path.join(projectRoot, 'node_modules/.bin/depcruise');
  const parameters = ['--config', configFile, '--output-type', 'json', ...sourceFolders, 'test'];
  const run = spawnSync(process.execPath, [depcruise, ...parameters], {
    cwd: root,
    encoding: 'utf8',
  });
  const report = JSON.parse(run.stdout) as { summary: { violations: readonly Violation[] } };
  violations = report.summary.violations;
});

afterAll(() => {
  rmSync(root, { recursive: true, force: true });
});

describe('the arrows between layers', () => {
  for (const [rule, trials] of Object.entries(refusedTrials)) {
    it.each(trials)(`refuse $from importing $imports by ${rule}`, (trial) => {
      expect(rulesBrokenBy(trial)).toContain(rule);
    });
  }

  it.each(allowedTrials)('let $from import $imports', (trial) => {
    expect(rulesBrokenBy(trial)).toEqual([]);
  });

  it.each(reachRules)('refuse by %s a shared module that nothing reaches', (name) => {
    const unreached = violations.filter(({ rule }) => rule.name === name).map(({ from }) => from);
    expect(unreached).toContain('shared/core/dead.ts');
    expect(unreached).not.toContain('shared/core/position.ts');
  });

  it('have a trial for each', () => {
    const tried = [...Object.keys(refusedTrials), ...reachRules];
    expect(tried.sort()).toEqual(forbidden.map(({ name }) => name).sort());
  });

  it('put every module into exactly one layer', () => {
    const layers = forbidden.filter(({ name }) => name.startsWith('layer-'));
    const misplaced = listSources().filter((file) => {
      return layers.filter((layer) => covers(layer, file)).length !== 1;
    });
    expect(misplaced).toEqual([]);
  });
});

function covers({ from }: Rule, file: string): boolean {
  const isExcepted = from.pathNot !== undefined && new RegExp(from.pathNot).test(file);
  return new RegExp(from.path ?? '').test(file) && !isExcepted;
}

function rulesBrokenBy(trial: Trial): string[] {
  return violations
    .filter(({ from, rule }) => from === fileOf.get(trial) && !reachRules.includes(rule.name))
    .map(({ rule }) => rule.name);
}

function write(file: string, text: string): void {
  mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
}

function writeTrial(trial: Trial): void {
  const isFile = trial.from.endsWith('.ts');
  const file = isFile ? trial.from : `${trial.from}/trial-${fileOf.size}.ts`;
  fileOf.set(trial, file);
  const isModule = trial.imports.endsWith('.ts');
  const source = isModule ? `./${path.relative(path.dirname(file), trial.imports)}` : trial.imports;
  const names = trial.isTypeOnly ? 'type { Value }' : '{ value }';
  write(file, `import ${names} from '${source}';\n`);
}

function writePackage(name: string): void {
  const manifest = { name, version: '1.0.0', main: 'main.js', types: 'main.d.ts' };
  write(`node_modules/${name}/package.json`, JSON.stringify(manifest));
  write(`node_modules/${name}/main.js`, 'exports.value = 1;\n');
  write(`node_modules/${name}/main.d.ts`, 'export declare const value: number;\n');
}

function pins(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, '1.0.0']));
}
