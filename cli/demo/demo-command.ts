import type { Command } from 'commander';
import type { EmbeddedAws } from '../../localstack/embedded/embedded-aws.ts';
import { stopOnSignals } from '../../localstack/embedded/stop-signals.ts';
import { readWhole } from '../read-whole.ts';
import { formatFacts } from '../table.ts';
import { formatVerdict } from './format-verdict.ts';
import { runDemo, type DemoProgress, type DemoResult } from './run-demo.ts';
import { createStepDisplay, type StepDisplay } from './step-display.ts';

interface DemoFlags {
  readonly seed: number;
  readonly shards: number;
  readonly chaos: boolean;
  readonly keep: boolean;
  readonly json: boolean;
}

/** `holdfast demo`: exit code 0 where all tables are equal, 1 where a row differs. */
export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description(
      'run 20,000 real flights through the job on the embedded local AWS, killing operators as it goes, and compare the tables with a plain computation',
    )
    .option(
      '--seed <number>',
      'decides when faults strike and how late flights are reported',
      readWhole(0, 2 ** 31),
      1,
    )
    .option('--shards <number>', 'shards of the stream at the start', readWhole(1, 16), 4)
    .option('--no-chaos', 'without crashes, redeliveries and splits')
    .option('--keep', 'leave the stack up until Ctrl-C', false)
    .option('--json', 'print the result as JSON', false)
    .action(async (flags: DemoFlags) => {
      process.exitCode = await demo(flags);
    });
}

async function demo(flags: DemoFlags): Promise<number> {
  let aws: EmbeddedAws | undefined;
  let ignoreSignals = (): void => undefined;
  const display = createStepDisplay();
  try {
    const result = await runDemo({
      ...flags,
      onStarted: (started) => {
        aws = started;
        ignoreSignals = stopOnSignals(started);
      },
      onProgress: (progress) => show(display, progress),
    });
    display.end();
    console.log(flags.json ? JSON.stringify(result, undefined, 2) : formatResult(result));
    if (flags.keep && aws !== undefined) await keepUp(aws);
    return result.differences.length === 0 ? 0 : 1;
  } finally {
    display.end();
    ignoreSignals();
    await aws?.stop();
  }
}

async function keepUp(aws: EmbeddedAws): Promise<void> {
  const { kinesis, dynamodb, s3 } = aws.endpoints;
  console.error(`\nThe stack is up; Ctrl-C stops it. Use any credentials and region ${aws.region}:
  AWS_ENDPOINT_URL_KINESIS=${kinesis}
  AWS_ENDPOINT_URL_DYNAMODB=${dynamodb}
  AWS_ENDPOINT_URL_S3=${s3}`);
  for (const [name, value] of Object.entries(aws.outputs)) console.error(`  ${name}: ${value}`);
  await new Promise(() => undefined);
}

const stepTexts: Record<Exclude<DemoProgress['step'], 'run'>, string> = {
  synthesize: 'cdk synth',
  start: 'starting the embedded AWS from the template',
  compare: 'comparing the tables',
};

function show(display: StepDisplay, { step, put, total, crashes }: DemoProgress): void {
  if (step === 'run') display.count(put, total, `${crashes} crashes`);
  else display.step(stepTexts[step]);
}

function formatResult(result: DemoResult): string {
  const rows: [string, string][] = [
    ['records', `${format(result.records)} in ${result.seconds} s, ${result.shards} shards`],
    ['out of order', `${format(result.outOfOrder)} records, ${format(result.late)} late`],
    ['units', format(result.units)],
    ['invocations', format(result.invocations)],
    ['crashes (SIGKILL)', format(result.crashes)],
    ['shards split', format(result.splits)],
    ['redelivered records', format(result.redeliveries)],
    ['overlapping invocations', format(result.zombies)],
    [
      'duplicates skipped',
      `${format(result.recordsSkipped)} records, ${format(result.outputsSkipped)} outputs`,
    ],
    ['conflicts', `${format(result.keysReran)} keys, ${format(result.progressConflicts)} commits`],
    [
      'outputs',
      `${format(result.airports)} airports, ${format(result.alerts)} alerts, ${format(result.hours)} hours`,
    ],
    [
      'DynamoDB / 1,000 events',
      `${result.writeUnitsPerThousand} write units, ${result.requestsPerThousand} requests`,
    ],
  ];
  return `${formatFacts(rows)}\n\n${formatVerdict(result)}`;
}

function format(value: number): string {
  return value.toLocaleString('en-US');
}
