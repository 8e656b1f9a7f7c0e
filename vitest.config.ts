import { defineConfig } from 'vitest/config';
import { CountReporter } from './test/house/count-reporter.ts';

/** Tests that start servers and child processes: they need the machine for themselves, and more time. */
const emulated = [
  'test/contract/**/*.test.ts',
  'test/integration/**/*.test.ts',
  'test/bench/**/*.test.ts',
];

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    // A test that is left alone would hide all others.
    allowOnly: false,
    passWithNoTests: false,
    reporters: ['default', new CountReporter()],
    projects: [
      {
        extends: true,
        test: {
          name: 'in-process',
          include: ['test/**/*.test.ts'],
          exclude: emulated,
          testTimeout: 30_000,
          hookTimeout: 30_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'emulated',
          include: emulated,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
