import type { Reporter, SerializedError, TestModule, TestSuite } from 'vitest/node';

/**
 * Ends the output with one line that counts the tests, such as `Tests: 412 passed, 0 failed, 3 skipped`, and fails a
 * run in which no test ran: a filter that matches nothing proves nothing.
 *
 * A file that does not load, a hook that throws and an error outside of tests count as a failure each.
 */
export class CountReporter implements Reporter {
  #line = writeLine({ passed: 0, failed: 0, skipped: 0 });

  onInit(): void {
    // Other reporters write when the run ends, too; this line comes after theirs.
    process.once('exit', () => process.stdout.write(this.#line));
  }

  onTestRunEnd(modules: readonly TestModule[], strayErrors: readonly SerializedError[]): void {
    const counts = { passed: 0, failed: strayErrors.length, skipped: 0 };
    for (const module of modules) {
      counts.failed += countOwnFailures(module);
      for (const suite of module.children.allSuites()) counts.failed += countOwnFailures(suite);
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        // What never came to an end did not pass.
        counts[state === 'pending' ? 'failed' : state] += 1;
      }
    }
    if (counts.passed + counts.failed === 0) process.exitCode = 1;
    this.#line = writeLine(counts);
  }
}

function countOwnFailures(suite: TestModule | TestSuite): number {
  return suite.errors().length === 0 ? 0 : 1;
}

function writeLine(counts: { passed: number; failed: number; skipped: number }): string {
  return `Tests: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`;
}
