import { Command } from 'commander';
import { describeThrown } from '../shared/core/errors.ts';
import { addCheckpointCommand } from './checkpoint/checkpoint-command.ts';
import { addCloneCommand } from './clone/clone-command.ts';
import { addDemoCommand } from './demo/demo-command.ts';
import { addDoctorCommand } from './doctor/doctor-command.ts';
import { addDrillCommand } from './drill/drill-command.ts';
import { addFlushCommand } from './flush/flush-command.ts';
import { addGenerationsCommand } from './generations/generations-command.ts';
import { addLabCommand } from './lab/lab-command.ts';
import { addRestoreCommand } from './restore/restore-command.ts';
import { addResumeCommand } from './savepoint/resume-command.ts';
import { addSavepointCommand } from './savepoint/savepoint-command.ts';
import { addStatusCommand } from './status/status-command.ts';
import { addFollowCommand } from './workflow/follow-command.ts';

/*
 * Exit codes: 0 done; 1 the command says no (tables differ, …); 2 wrong usage or a failure on the way;
 * 130 and 143 stopped by Ctrl-C or SIGTERM.
 */
const program = new Command('holdfast')
  .description('Stateful stream processing on AWS without a cluster')
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2));
addDemoCommand(program);
addFlushCommand(program);
addLabCommand(program);
addStatusCommand(program);
addCheckpointCommand(program);
addSavepointCommand(program);
addResumeCommand(program);
addRestoreCommand(program);
addDrillCommand(program);
addCloneCommand(program);
addGenerationsCommand(program);
addFollowCommand(program);
addDoctorCommand(program);

try {
  await program.parseAsync();
} catch (thrown) {
  console.error(`holdfast: ${describeThrown(thrown)}`);
  process.exitCode = 2;
}
