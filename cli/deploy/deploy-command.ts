import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidArgumentError, Option, type Command } from 'commander';
import type { JobNames } from '../../shared/config/job-names.ts';
import { describeThrown, isHoldfastError } from '../../shared/core/errors.ts';
import { addConnectionFlags, useConnection, type ConnectionFlags } from '../connection-flags.ts';
import { readOperatorFunction } from '../job-flags.ts';
import { AssemblyError } from './cloud-assembly.ts';
import { formatReport, type DeployReport } from './deploy-report.ts';
import { InterruptedError } from './plan-deployment.ts';
import { chooseCdk, exitCodeOf } from './run-cdk.ts';
import { runDeploy } from './run-deploy.ts';

interface DeployFlags extends ConnectionFlags {
  readonly app?: string;
  readonly context: readonly string[];
  readonly cdk?: string;
  readonly savepoint: boolean;
  readonly keepSavepoints: number;
  /** ms. */
  readonly watch: number;
  /** ms. */
  readonly settle?: number;
  readonly maxDeadLetters: number;
  readonly allowRemoval: readonly string[];
  readonly autoRollback: boolean;
  readonly yes: boolean;
  readonly job?: string;
  readonly stream?: string;
  readonly controlTable?: string;
  readonly deadLetterTable?: string;
  readonly bucket?: string;
  readonly operatorFunction?: ReadonlyMap<string, string>;
  readonly workflowFunction?: string;
  readonly savepointWorkflow?: string;
  readonly restoreWorkflow?: string;
}

/**
 * `holdfast deploy`: exit code 1 where it is refused or not confirmed, cdk fails, or what is deployed does not go well, rolled back or
 * not.
 */
export function addDeployCommand(program: Command): void {
  const command = program
    .command('deploy')
    .description(
      'deploy a stack with cdk: check it against the state that is stored, make a savepoint, deploy, and watch the first units, the first checkpoint and dead letters of the new code',
    )
    .argument('[stack]', 'its name, where the app has more than one with a StreamJob')
    .argument('[cdk-arguments...]', 'for cdk deploy, after --')
    .option('--app <folder>', 'what cdk synth has written, or the command that makes it')
    .option('-c, --context <key=value>', 'context for cdk synth; once for each', collect, [])
    .option('--cdk <command>', 'how cdk is started, in words parted by spaces')
    .option('--no-savepoint', 'make no savepoint before it')
    .option(
      '--keep-savepoints <count>',
      'how many of the savepoints that deployments have made stay; older ones are deleted when all is well',
      readCount,
      5,
    )
    .addOption(
      new Option(
        '--watch <time>',
        'how long the new code may take to show that it goes well, as 90s, 5m or 1h',
      )
        .argParser(readTime)
        .default(300_000, '5m'),
    )
    .option(
      '--settle <time>',
      'how long the old code may be at work after a deployment (default: the longest timeout of an operator)',
      readTime,
    )
    .option('--max-dead-letters <count>', 'new dead letters that are no trouble', readCount, 0)
    .option(
      '--allow-removal <id>',
      'the logical id of a table, stream, bucket or key that may leave the stack; once for each',
      collect,
      [],
    )
    .option(
      '--auto-rollback',
      'where it does not go well, deploy what was deployed before, and restore the savepoint if anything was committed',
      false,
    )
    .option('--yes', 'do not ask, and let cdk not ask either', false);
  for (const option of listNameOptions()) command.addOption(option);
  addConnectionFlags(command).action(
    async (_stack: string | undefined, _others: readonly string[], flags: DeployFlags) => {
      const [own, cdkArguments] = splitArguments(command.args, process.argv);
      if (own.length > 1) {
        command.error(
          `error: one stack at a time, not ${own.join(' and ')}; what is for cdk stands after --`,
        );
      }
      process.exitCode = await deploy(own[0], cdkArguments, flags);
    },
  );
}

/**
 * Parts what stands before `--` from what stands after it: commander gives both alike, so that what is for cdk would be taken for the
 * stack where none is named.
 */
export function splitArguments(
  words: readonly string[],
  argv: readonly string[],
): readonly [own: readonly string[], forCdk: readonly string[]] {
  const at = argv.indexOf('--');
  const end = at === -1 ? words.length : words.length - (argv.length - at - 1);
  return [words.slice(0, end), words.slice(end)];
}

/** Where the stack does not say it, or something else is meant. */
function listNameOptions(): Option[] {
  const from = "its stack's output says it otherwise";
  const named = (flags: string, what: string, variable: string): Option =>
    new Option(flags, `${what}; ${from}`).env(variable);
  return [
    named('--job <name>', 'the name of the job', 'HOLDFAST_JOB'),
    named('--stream <arn>', 'the stream, by its name or ARN', 'HOLDFAST_STREAM_ARN'),
    named('--control-table <name>', 'the control table', 'HOLDFAST_CONTROL_TABLE'),
    named('--dead-letter-table <name>', 'the dead letters', 'HOLDFAST_DEAD_LETTER_TABLE'),
    named('--bucket <name>', 'the bucket', 'HOLDFAST_BUCKET'),
    named(
      '--operator-function <operator=function>',
      'the function of an operator',
      'HOLDFAST_OPERATOR_FUNCTIONS',
    ).argParser(readOperatorFunction),
    named(
      '--workflow-function <name>',
      'the function of the workflows',
      'HOLDFAST_WORKFLOW_FUNCTION',
    ),
    named(
      '--savepoint-workflow <arn>',
      'the state machine of savepoints',
      'HOLDFAST_SAVEPOINT_WORKFLOW',
    ),
    named('--restore-workflow <arn>', 'the state machine of restores', 'HOLDFAST_RESTORE_WORKFLOW'),
  ];
}

async function deploy(
  stack: string | undefined,
  cdkArguments: readonly string[],
  flags: DeployFlags,
): Promise<number> {
  useConnection(flags);
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-deploy-'));
  // Also where a signal ends the process on the way.
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  try {
    const { app, context, settle, region, profile, endpointUrl } = flags;
    const report = await runDeploy(
      {
        ...{ stack, app, context, cdkArguments },
        cdk: chooseCdk(flags.cdk),
        names: readNames(flags),
        removable: new Set(flags.allowRemoval),
        makesSavepoint: flags.savepoint,
        savepointsKept: flags.keepSavepoints,
        watchMs: flags.watch,
        settleMs: settle,
        deadLettersMax: flags.maxDeadLetters,
        rollsBack: flags.autoRollback,
        isConfirmed: flags.yes,
        connection: pickGiven({ region, profile, endpointUrl }),
      },
      folder,
    );
    return print(report, flags.json);
  } catch (thrown) {
    return printFailure(thrown);
  } finally {
    process.off('exit', remove);
    remove();
  }
}

function readNames(flags: DeployFlags): Partial<JobNames> {
  const { job, controlTable, deadLetterTable, bucket } = flags;
  const { workflowFunction, savepointWorkflow, restoreWorkflow } = flags;
  return pickGiven({
    ...{ job, controlTable, deadLetterTable, bucket },
    streamArn: flags.stream,
    operatorFunctions: flags.operatorFunction,
    ...{ workflowFunction, savepointWorkflow, restoreWorkflow },
  });
}

function pickGiven<Value extends object>(
  values: Value,
): { [Name in keyof Value]?: Exclude<Value[Name], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Value]?: Exclude<Value[Name], undefined>;
  };
}

function print(report: DeployReport, json: boolean): number {
  const { out, err } = formatReport(report);
  if (err !== '') console.error(err);
  if (json) console.log(JSON.stringify(report, undefined, 2));
  else if (out !== '') console.log(out);
  if (report.signal !== undefined) return exitCodeOf(report.signal);
  return report.outcome === 'deployed' ? 0 : 1;
}

function printFailure(thrown: unknown): number {
  if (thrown instanceof InterruptedError) {
    console.error(`holdfast: ${thrown.message}`);
    return exitCodeOf(thrown.signal);
  }
  const isRefusal =
    thrown instanceof AssemblyError ||
    isHoldfastError(thrown, 'invalid') ||
    isHoldfastError(thrown, 'conflict');
  if (!isRefusal) throw thrown;
  console.error(`holdfast: ${describeThrown(thrown)}`);
  return 1;
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

function readCount(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('expected a whole number.');
}

const unitsMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

function readTime(text: string): number {
  const [, count, unit] = /^(\d{1,6})([smh])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) return Number(count) * unitsMs[unit]!;
  throw new InvalidArgumentError('expected a time as 90s, 5m or 1h.');
}
