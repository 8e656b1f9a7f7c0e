import { styleText } from 'node:util';
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { SingleBar } from 'cli-progress';
import type { EmbeddedAws } from '../../localstack/embedded/embedded-aws.ts';
import { stopOnSignals } from '../../localstack/embedded/stop-signals.ts';
import { runDemo, type DemoProgress, type DemoResult } from './run-demo.ts';

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
  const display = createDisplay();
  try {
    const result = await runDemo({
      ...flags,
      onStarted: (started) => {
        aws = started;
        ignoreSignals = stopOnSignals(started);
      },
      onProgress: (progress) => display.show(progress),
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

interface Display {
  show(progress: DemoProgress): void;
  end(): void;
}

const stepTexts: Record<DemoProgress['step'], string> = {
  synthesize: 'cdk synth',
  start: 'starting the embedded AWS from the template',
  run: 'records',
  compare: 'comparing the tables',
};

/** A progress bar on terminals, a line now and then elsewhere; both on standard error. */
function createDisplay(): Display {
  const { stderr } = process;
  let bar: SingleBar | undefined;
  let step: DemoProgress['step'] | undefined;
  let quarter = 0;
  const end = (): void => {
    bar?.stop();
    bar = undefined;
  };
  return {
    end,
    show(progress) {
      if (progress.step !== step) {
        end();
        step = progress.step;
        if (step === 'run' && stderr.isTTY) {
          bar = new SingleBar({
            format: `${stepTexts.run} [{bar}] {value}/{total} · {crashes} crashes`,
            stream: stderr,
            hideCursor: true,
          });
          bar.start(progress.total, progress.put, { crashes: progress.crashes });
        } else if (step !== 'run') {
          stderr.write(`${stepTexts[step]} …\n`);
        }
      }
      if (step !== 'run') return;
      bar?.update(progress.put, { crashes: progress.crashes });
      const reached = Math.floor((4 * progress.put) / progress.total);
      if (bar === undefined && reached > quarter) {
        quarter = reached;
        stderr.write(`${progress.put}/${progress.total} records, ${progress.crashes} crashes\n`);
      }
    },
  };
}

/** How many differing rows are printed. */
const differencesShown = 10;

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
  const width = Math.max(...rows.map(([name]) => name.length));
  const table = rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n');
  return `${table}\n\n${formatVerdict(result)}`;
}

function formatVerdict({ differences, airports, alerts, hours }: DemoResult): string {
  if (differences.length === 0) {
    const text = `EXACTLY ONCE: ${format(airports)} airports, ${format(alerts)} alerts and ${format(hours)} hours equal a plain computation, row by row.`;
    return styleText('green', text, { stream: process.stdout });
  }
  const shown = differences.slice(0, differencesShown);
  const more = differences.length - shown.length;
  const title = `DIFFERENT: ${differences.length} rows`;
  return [
    styleText('red', title, { stream: process.stdout }),
    ...shown,
    ...(more > 0 ? [`… and ${more} more`] : []),
  ].join('\n');
}

function format(value: number): string {
  return value.toLocaleString('en-US');
}

function readWhole(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`expected a whole number from ${min} to ${max}`);
  };
}
