import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DeployReport } from '../../../cli/deploy/deploy-report.ts';
import { startCli, type CliRun } from '../demo/run-cli.ts';
import type { FlightsAws } from '../rollback/flights-aws.ts';
import { startFakeCloudFormation, type FakeCloudFormation } from './fake-cloudformation.ts';
import { codeOf, writeNextAssembly, type LooseTemplate } from './next-assembly.ts';

const stackName = 'Flights';

export const path = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

const fakeCdk = path('./fake-cdk.ts');
const firstHandler = path('../../../functions/flight-delays/handler.ts');

/** The embedded AWS with a stand-in for CloudFormation, and for cdk, which replaces the code of the operator. */
export interface DeployStage {
  readonly cloudFormation: FakeCloudFormation;
  /** Where the command runs. */
  readonly cwd: string;
  /** Which code is deployed. */
  deployedCode(): string;
  /** Writes what would be deployed. @returns its folder */
  assemble(handler?: string, change?: (template: LooseTemplate) => void): string;
  start(...args: readonly string[]): CliRun;
  /** Runs `holdfast deploy` to its end; checkpoints are made meanwhile. */
  deploy(folder: string, ...args: readonly string[]): Promise<DeployEnd>;
  stop(): Promise<void>;
}

export interface DeployEnd {
  readonly code: number | NodeJS.Signals;
  readonly err: string;
  readonly report: DeployReport | undefined;
}

export async function setDeployStage(flights: FlightsAws): Promise<DeployStage> {
  const cwd = mkdtempSync(join(tmpdir(), 'holdfast-deploys-'));
  const cloudFormation = await startFakeCloudFormation();
  const templateText = readFileSync(join(flights.cdkOut, `${stackName}.template.json`), 'utf8');
  const handlers = new Map([[codeOf(templateText), firstHandler]]);
  const put = (text: string): void => {
    const outputs = flights.aws.outputs;
    cloudFormation.stack = {
      name: stackName,
      status: 'UPDATE_COMPLETE',
      templateText: text,
      outputs,
    };
  };
  put(templateText);
  cloudFormation.onDeploy = (folder) => {
    const text = readFileSync(join(folder, `${stackName}.template.json`), 'utf8');
    flights.deploy(handlers.get(codeOf(text))!);
    put(text);
    return Promise.resolve(0);
  };
  let folders = 0;
  const start = (...args: readonly string[]): CliRun =>
    startCli(args, {
      cwd,
      env: {
        ...flights.environment,
        AWS_ENDPOINT_URL_CLOUDFORMATION: cloudFormation.url,
        HOLDFAST_TEST_CDK: cloudFormation.url,
      },
    });
  return {
    ...{ cloudFormation, cwd, start },
    deployedCode: () => handlers.get(codeOf(cloudFormation.stack!.templateText))!,
    assemble(handler, change) {
      folders += 1;
      const folder = join(cwd, `next-${folders}`);
      mkdirSync(folder);
      const key = writeNextAssembly(flights.cdkOut, stackName, folder, {
        ...(handler === undefined ? {} : { handler }),
        ...(change === undefined ? {} : { change }),
      });
      handlers.set(key, handler ?? firstHandler);
      return folder;
    },
    async deploy(folder, ...args) {
      const { printed, ended } = start(
        ...['deploy', '--app', folder, '--cdk', `${process.execPath} ${fakeCdk}`],
        ...['--yes', '--json', '--settle', '1s', ...args],
      );
      const timer = checkpointUntil(flights, ended);
      const code = await ended;
      await timer;
      const report = printed.out === '' ? undefined : (JSON.parse(printed.out) as DeployReport);
      return { code, err: printed.err, report };
    },
    async stop() {
      await cloudFormation.stop();
      rmSync(cwd, { recursive: true, force: true });
    },
  };
}

/** How often a checkpoint is made, ms: the coordinator of the stack does not run by itself. */
const checkpointEveryMs = 5_000;

async function checkpointUntil(flights: FlightsAws, ended: Promise<unknown>): Promise<void> {
  let isOver = false;
  const over = ended.then(() => {
    isOver = true;
  });
  while (!isOver) {
    await Promise.race([over, new Promise((resolve) => setTimeout(resolve, checkpointEveryMs))]);
    // Refused while the job is held.
    if (!isOver) await flights.ask('checkpoint', 'trigger').catch(() => undefined);
  }
}
