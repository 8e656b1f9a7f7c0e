import { ESLint } from 'eslint';
import ts from 'typescript-eslint';
import { describe, expect, it } from 'vitest';
import { projectRoot } from './project-files.ts';

/** Without types: the bans need none, and loading them takes most of a lint run. */
const eslint = new ESLint({
  cwd: projectRoot,
  overrideConfig: [{ files: ['**/*.ts'], ...ts.configs.disableTypeChecked }],
});

async function lint(file: string, text: string): Promise<string[]> {
  const [result] = await eslint.lintText(text, { filePath: file });
  return result!.messages.map(({ ruleId, message }) => `${ruleId}: ${message}`);
}

/** Each gives another result in a second run over the same records. */
const nonDeterministic = [
  'export const now = Date.now();',
  'export const clock = Date.now;',
  'export const now = new Date();',
  'export const now = Date();',
  'export const now = new Date(2025, 0, 1);',
  'export const elapsed = performance.now();',
  'export const { now } = Date;',
  'export const chance = Math.random();',
  'export const id = crypto.randomUUID();',
  'export const bytes = crypto.getRandomValues(new Uint8Array(4));',
  'export const id = globalThis.crypto.randomUUID();',
  "import { randomUUID } from 'node:crypto';\nexport const id = randomUUID();",
  "import * as dice from 'node:crypto';\nexport const id = dice.randomUUID();",
  "import { setTimeout } from 'node:timers/promises';\nawait setTimeout(1);",
  "import { hostname } from 'os';\nexport const host = hostname();",
  'setTimeout(() => {}, 1);',
  'setInterval(() => {}, 1);',
  'setImmediate(() => {});',
  "export const region = process.env['AWS_REGION'];",
  "export const reply = fetch('http://127.0.0.1');",
  "console.log('seen');",
  'export const hour = new Date(0).getHours();',
  "export const order = 'a'.localeCompare('b');",
];

const deterministic = [
  'export const date = new Date(0);',
  "export const date = new Date('2025-01-01T00:00:00Z').getUTCHours();",
  'export const ms = Date.UTC(2025, 0, 1);',
  'export const largest = Math.max(1, 2);',
  "import { createHash } from 'node:crypto';\nexport const hash = createHash('md5');",
];

const zones = [
  ['shared/core/trial.ts', 'let the caller pass'],
  ['shared/ports/trial.ts', 'let the caller pass'],
  ['shared/config/trial.ts', 'let the caller pass'],
  ['shared/operator/trial.ts', 'let the caller pass'],
  ['shared/runtime/trial.ts', 'System port'],
  ['shared/adapters/memory/trial.ts', 'System port'],
  ['functions/trial/operator.ts', 'ctx.now()'],
  ['functions/trial/windows.ts', 'ctx.now()'],
] as const;

const outside = [
  'shared/operator/testing/trial.ts',
  'shared/adapters/system/trial.ts',
  'shared/composition/trial.ts',
  'functions/trial/handler.ts',
  'localstack/trial.ts',
  'cli/trial.ts',
  'infra/trial.ts',
  'test/trial.test.ts',
];

describe('the determinism bans', () => {
  describe.each(zones)('in %s', (file, remedy) => {
    it.each(nonDeterministic)('refuse %s', async (text) => {
      expect(await lint(file, text)).toEqual([expect.stringMatching(/^no-restricted-/)]);
    });

    it.each(deterministic)('allow %s', async (text) => {
      expect(await lint(file, text)).toEqual([]);
    });

    it('name what to do instead', async () => {
      expect(await lint(file, 'export const now = Date.now();')).toEqual([
        expect.stringContaining(remedy),
      ]);
    });
  });

  it.each(outside)('leave %s alone', async (file) => {
    expect(await lint(file, nonDeterministic[0]!)).toEqual([]);
  });
});

describe('the syntax bans', () => {
  it.each([
    ['no-restricted-syntax', 'export default 1;'],
    ['no-restricted-syntax', "export * from './position.ts';"],
    ['no-restricted-syntax', 'export const isPast = a.sequence > b.sequence;'],
    ['@typescript-eslint/no-explicit-any', 'export const value: any = 1;'],
  ])('refuse by %s: %s', async (rule, text) => {
    for (const file of [
      'shared/core/trial.ts',
      'localstack/trial.ts',
      'functions/trial/handler.ts',
    ]) {
      expect((await lint(file, text)).join('\n')).toContain(rule);
    }
  });

  it('allow positions to be compared as numbers', async () => {
    const text = 'export const isPast = BigInt(a.sequence) > BigInt(b.sequence);';
    expect(await lint('shared/core/trial.ts', text)).toEqual([]);
  });
});
