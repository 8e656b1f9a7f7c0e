/** The template that the test has synthesized once for all its runs. */
export function synthesize(): Promise<string> {
  return Promise.resolve(process.env['HOLDFAST_TEST_TEMPLATE'] ?? '');
}
