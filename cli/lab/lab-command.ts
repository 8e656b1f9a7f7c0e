import { Option, type Command } from 'commander';
import { readWhole } from '../read-whole.ts';
import { runCrashLab, type CrashLabOptions } from './crash-lab.ts';
import { formatReport } from './format-report.ts';

interface CrashFlags extends CrashLabOptions {
  readonly json: boolean;
}

const eventsMax = 30;

/** `holdfast lab`: experiments that show why the runtime does what it does. */
export function addLabCommand(program: Command): void {
  const lab = program
    .command('lab')
    .description('experiments that show why things are done as they are');
  lab
    .command('crash')
    .description(
      'crash a windowed operator, restore an older checkpoint, and see which outputs come twice: exit code 1 where the idempotent run has duplicates',
    )
    .option(
      '--checkpoint-every <events>',
      'how many events lie between two checkpoints',
      readWhole(1, eventsMax),
      8,
    )
    .option('--crash-after <event>', 'the last event before the crash', readWhole(1, eventsMax), 14)
    .addOption(
      new Option('--key <kind>', 'what the idempotent sink tells outputs apart by')
        .choices(['deterministic', 'processing-time'])
        .default('deterministic'),
    )
    .option('--json', 'print the result as JSON', false)
    .action(async ({ json, ...options }: CrashFlags) => {
      const report = await runCrashLab(options);
      console.log(json ? JSON.stringify(report, undefined, 2) : formatReport(report));
      process.exitCode = report.isExactlyOnce ? 0 : 1;
    });
}
