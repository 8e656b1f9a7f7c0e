import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { zeroCounters } from '../../shared/ports/telemetry.ts';
import { RestoreWorkflow } from '../../infra/restore-workflow.ts';
import { createJob } from '../infra/synthesize-job.ts';

const project = resolve(import.meta.dirname, '..', '..');
const read = (name: string): string => readFileSync(join(project, name), 'utf8');
const runbook = read('docs/runbook.md');
const sources = globSync('shared/**/*.ts', { cwd: project }).map(read).join('\n');

it('alarms on metrics of ours that are published', () => {
  const metrics = [...runbook.matchAll(/`Holdfast` `(\w+)`/g)].map(([, name]) => name!);
  expect(metrics.length).toBeGreaterThan(4);
  const figures = [...read('shared/ports/checkpoint-metrics.ts').matchAll(/readonly (\w+):/g)];
  const published = new Set([...Object.keys(zeroCounters()), ...figures.map(([, name]) => name!)]);
  expect(metrics.filter((name) => !published.has(name))).toEqual([]);
});

it('names methods that the construct has', () => {
  const { job } = createJob();
  const methods = [...runbook.matchAll(/`(metric\w+)\(/g)].map(([, name]) => name!);
  expect(methods).toHaveLength(3);
  expect(methods.filter((name) => !(name in job))).toEqual([]);
});

it('quotes messages as they are in the logs', () => {
  const messages = [
    ...['records handed back', 'checkpoint failed', 'checkpoint delayed', 'upkeep failed'],
    ...['checkpoints keep failing', 'pending work was taken away', 'manifest not copied'],
    ...['a hold was ended whose owner has not come back', 'garbage collected'],
  ];
  for (const message of messages) {
    expect(runbook.replace(/\s+/g, ' '), message).toContain(`\`${message}\``);
    expect(sources, message).toContain(`'${message}'`);
  }
});

it('names states that the workflow has', () => {
  const { job } = createJob();
  const workflow = job.node.findChild('Restores');
  expect(workflow).toBeInstanceOf(RestoreWorkflow);
  const states = new Set(workflow.node.findAll().map(({ node }) => node.id));
  const [, table] = /^\| state +\|[^\n]+\n([\s\S]+?)\n\n/m.exec(runbook)!;
  const named = table!
    .split('\n')
    .flatMap((row) => [...row.split('|')[1]!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!));
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((name) => !states.has(name))).toEqual([]);
});

it('links to sections and files that are there', () => {
  const headings = [...runbook.matchAll(/^#+ (.+)$/gm)].map(
    ([, text]) =>
      `#${text!
        .toLowerCase()
        .replace(/[^\w -]/g, '')
        .replaceAll(' ', '-')}`,
  );
  const links = [...runbook.matchAll(/\]\(([^)]+)\)/g)].map(([, to]) => to!);
  expect(links.length).toBeGreaterThan(8);
  for (const link of links) {
    if (link.startsWith('#')) expect(headings).toContain(link);
    else expect(read(`docs/${link}`), link).not.toBe('');
  }
});
