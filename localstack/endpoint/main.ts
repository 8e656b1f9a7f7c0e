import { Command } from 'commander';
import { describeThrown } from '../../shared/core/errors.ts';
import { addDemoCommand } from './demo/demo-command.ts';
import { addDeployCommand } from './deploy-command.ts';
import { addDownCommand } from './down-command.ts';
import { addUpCommand } from './up-command.ts';

/* What `npm run localstack:…` starts. Exit codes are those of `holdfast` (cli/main.ts). */
const program = new Command('localstack')
  .description(
    'The deployed job on an endpoint that speaks for AWS: LocalStack and what is like it',
  )
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2));
addUpCommand(program);
addDeployCommand(program);
addDemoCommand(program);
addDownCommand(program);

try {
  await program.parseAsync();
} catch (thrown) {
  console.error(`localstack: ${describeThrown(thrown)}`);
  process.exitCode = 2;
}
