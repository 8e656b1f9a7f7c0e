import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import ts from 'typescript-eslint';

/*
 * Two kinds of rules: those that find bugs, with types; and bans that keep the deterministic part deterministic.
 * A rule that mostly produces noise here is off, with its reason. Which layer may import what is said in
 * .dependency-cruiser.cjs.
 */

const code = ['**/*.ts', '**/*.mts'];
const scripts = ['**/*.js', '**/*.mjs', '**/*.cjs'];

/** Syntax that is banned everywhere. ESLint lets a later list replace an earlier one, so each list begins with this. */
const bannedSyntax = [
  {
    selector: 'ExportDefaultDeclaration',
    message: 'Export it by name: a default export is called differently in every file.',
  },
  {
    selector: 'ExportAllDeclaration',
    message: 'Import from the module that defines it: a barrel loads everything and hides cycles.',
  },
  {
    selector:
      'BinaryExpression[operator=/^[<>]=?$/] > MemberExpression[property.name=/(^s|S)equence(Number)?$/]',
    message:
      'Sequence numbers are decimal text of different lengths: compare them as BigInt (shared/core/position.ts).',
  },
];

/** What differs between two runs over the same records. `clock`, `dice` and `settings` say where to get it instead. */
function banNonDeterminism({ clock, dice, pause, settings, calls, log }) {
  const globals = {
    performance: clock,
    crypto: dice,
    setTimeout: pause,
    setInterval: pause,
    setImmediate: pause,
    process: settings,
    fetch: calls,
    WebSocket: calls,
    EventSource: calls,
    XMLHttpRequest: calls,
    console: log,
    WeakRef: 'What the garbage collector does differs from run to run.',
    FinalizationRegistry: 'What the garbage collector does differs from run to run.',
  };
  const properties = [
    ['Date', 'now', clock],
    ['Temporal', 'Now', clock],
    ['Math', 'random', dice],
  ];
  const modules = {
    'node:timers': pause,
    'node:timers/promises': pause,
    'node:perf_hooks': clock,
    'node:process': settings,
    'node:os': settings,
    'node:http': calls,
    'node:https': calls,
    'node:net': calls,
    'node:console': log,
  };
  const diceOfCrypto = [
    ...['getRandomValues', 'randomBytes', 'randomFill', 'randomFillSync', 'randomInt'],
    ...['randomUUID', 'webcrypto', 'default'],
  ];
  const timeZone = 'depends on the time zone of the machine: use the UTC method';
  return {
    'no-restricted-globals': [
      'error',
      {
        checkGlobalObject: true,
        globals: Object.entries(globals).map(([name, message]) => ({ name, message })),
      },
    ],
    'no-restricted-properties': [
      'error',
      ...properties.map(([object, property, message]) => ({ object, property, message })),
    ],
    'no-restricted-imports': [
      'error',
      {
        paths: [
          ...Object.entries(modules).flatMap(([name, message]) => [
            { name, message },
            { name: name.slice('node:'.length), message },
          ]),
          { name: 'node:crypto', importNames: diceOfCrypto, message: dice },
          { name: 'crypto', importNames: diceOfCrypto, message: dice },
        ],
      },
    ],
    'no-restricted-syntax': [
      'error',
      ...bannedSyntax,
      { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: clock },
      { selector: "CallExpression[callee.name='Date']", message: clock },
      {
        selector: "NewExpression[callee.name='Date'][arguments.length>1]",
        message: `new Date(year, month, …) ${timeZone.replace('method', 'function Date.UTC')}.`,
      },
      {
        selector:
          'CallExpression[callee.property.name=/^([gs]et(FullYear|Month|Date|Day|Hours|Minutes|Seconds)|getTimezoneOffset)$/]',
        message: `This ${timeZone}.`,
      },
      {
        selector: 'CallExpression[callee.property.name=/^(localeCompare|toLocale\\w*)$/]',
        message: 'This depends on the locale of the machine: compare code units, format by hand.',
      },
    ],
  };
}

const callsBelongToAdapters = 'What is not in this process is behind a port.';

/** For what gets everything as parameters. */
const pureBans = banNonDeterminism({
  clock: 'Time differs from run to run: let the caller pass it.',
  dice: 'Chance differs from run to run: let the caller pass it, or use seededRandom of shared/core.',
  pause: 'This layer is synchronous: only adapters wait.',
  settings: 'The environment differs from machine to machine: let the caller pass what is needed.',
  calls: callsBelongToAdapters,
  log: 'Return what happened: the runtime tells it to the Telemetry port.',
});

/** For what works through ports, so that simulation can put its own clock and dice beneath. */
const portBans = banNonDeterminism({
  clock:
    'Take the time from the System port (system.now()): simulation runs on a clock of its own.',
  dice: 'Take chance from the System port (system.randomId(), system.randomVersion()): simulation seeds it.',
  pause: 'Wait by the System port (system.sleep()): simulation does not wait.',
  settings: 'Take settings as parameters: shared/composition reads the environment.',
  calls: callsBelongToAdapters,
  log: 'Tell it to the Telemetry port.',
});

/** For what users write: a replay must compute what was computed. */
const operatorBans = banNonDeterminism({
  clock: 'A replay would see another time: use ctx.now(), the arrival time of the record.',
  dice: 'A replay would throw other dice: use ctx.random(), which is seeded.',
  pause: 'An operator cannot wait: the result would be lost.',
  settings:
    'A replay may run elsewhere: an operator knows its records and its state, nothing else.',
  calls: 'A replay may get another answer: put what is needed into the record, or into state.',
  log: 'A replay would log again: emit to a sink what is worth keeping.',
});

export default defineConfig(
  { ignores: ['cdk.out/', 'coverage/', '.holdfast/'] },
  {
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    extends: [js.configs.recommended],
    rules: {
      'no-restricted-syntax': ['error', ...bannedSyntax],
      'array-callback-return': 'error',
      complexity: ['error', { max: 22, variant: 'modified' }],
      eqeqeq: 'error',
      'max-params': ['error', 5],
      'no-param-reassign': 'error',
      'no-self-compare': 'error',
      'no-unreachable-loop': 'error',
    },
  },
  {
    files: code,
    extends: [ts.configs.recommendedTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/consistent-type-exports': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/no-deprecated': 'error',
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/no-misused-spread': 'error',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      '@typescript-eslint/prefer-nullish-coalescing': 'error',
      // Positions, sequence numbers and versions must not be sorted as text.
      '@typescript-eslint/require-array-sort-compare': 'error',
      '@typescript-eslint/restrict-plus-operands': ['error', { allowNumberAndString: true }],
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
      // Position 0 and the empty key are values, not absences.
      '@typescript-eslint/strict-boolean-expressions': ['error', { allowNullableBoolean: true }],
      // A default branch answers for what an SDK may add.
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/use-unknown-in-catch-callback-variable': 'error',

      // Off: a port has promises in its signatures, and memory fills it without waiting for anything.
      '@typescript-eslint/require-await': 'off',
      // Off (and not in this set): no-non-null-assertion, because with noUncheckedIndexedAccess `list[i]!` after a
      // bound check is the honest spelling; no-unnecessary-condition, because it does not see what callbacks and
      // awaited code change, nor that JSON.stringify may give undefined; no-await-in-loop, because one write after the
      // other is what the protocol is about.
    },
  },
  {
    files: scripts,
    languageOptions: {
      globals: Object.fromEntries(
        [
          ...['Buffer', 'URL', 'clearTimeout', 'console', 'exports', 'fetch', 'module', 'process'],
          ...['require', 'setImmediate', 'setInterval', 'setTimeout'],
        ].map((name) => [name, 'readonly']),
      ),
    },
  },
  {
    files: ['*.config.{js,ts}'],
    rules: {
      // Tools want a default export.
      'no-restricted-syntax': ['error', ...bannedSyntax.slice(1)],
    },
  },
  {
    files: ['infra/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          name: 'aws-cdk-lib',
          message: 'Import from aws-cdk-lib/core or …/aws-<service>: the root loads every service.',
        },
      ],
    },
  },
  {
    files: ['shared/{core,ports,config}/**', 'shared/operator/**'],
    ignores: ['shared/operator/testing/**'],
    rules: pureBans,
  },
  {
    files: ['shared/{runtime,adapters}/**'],
    ignores: ['shared/adapters/system/**'],
    rules: portBans,
  },
  {
    // In functions everything but the handlers is what users write.
    files: ['functions/**'],
    ignores: ['functions/*/handler.ts'],
    rules: operatorBans,
  },
  {
    files: ['test/**'],
    rules: {
      // Off: tests hand functions of ports and servers around; a lost `this` fails the test at once.
      '@typescript-eslint/unbound-method': 'off',
      // Off: `undefined` in the title or message of a failing test is what its reader wants to see.
      '@typescript-eslint/restrict-template-expressions': 'off',
      // Off: what a test gets wrong shows when it runs.
      '@typescript-eslint/explicit-module-boundary-types': 'off',
      '@typescript-eslint/no-deprecated': 'off',
      '@typescript-eslint/require-array-sort-compare': 'off',
      '@typescript-eslint/strict-boolean-expressions': 'off',
      'max-params': 'off',
    },
  },
);
