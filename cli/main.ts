import { describeThrown } from '../shared/core/errors.ts';
import { createProgram } from './program.ts';

/*
 * Exit codes: 0 done; 1 the command says no (tables differ, …); 2 wrong usage or a failure on the way;
 * 130 and 143 stopped by Ctrl-C or SIGTERM.
 */
const program = createProgram((error) => process.exit(error.exitCode === 0 ? 0 : 2));

try {
  await program.parseAsync();
} catch (thrown) {
  console.error(`holdfast: ${describeThrown(thrown)}`);
  process.exitCode = 2;
}
