import { Command, type CommanderError } from 'commander';
import { addCheckpointCommand } from './checkpoint/checkpoint-command.ts';
import { addCloneCommand } from './clone/clone-command.ts';
import { addDemoCommand } from './demo/demo-command.ts';
import { addDeployCommand } from './deploy/deploy-command.ts';
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

/**
 * Every command of the command line. `onExit` is called where commander would end the process: after help, and after a wrong usage
 * that it has told of.
 */
export function createProgram(onExit: (error: CommanderError) => never): Command {
  const program = new Command('holdfast')
    .description('Stateful stream processing on AWS without a cluster')
    .exitOverride(onExit);
  addDemoCommand(program);
  addFlushCommand(program);
  addDeployCommand(program);
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
  return program;
}
