import { startCli } from '../demo/run-cli.ts';
import type { LedgerAws } from './ledger-aws.ts';

export interface HoldfastRun {
  readonly code: number | NodeJS.Signals;
  readonly out: string;
  readonly err: string;
}

/** Runs the command line on the embedded AWS. */
export async function runHoldfast(
  { aws, output }: LedgerAws,
  ...args: string[]
): Promise<HoldfastRun> {
  const { printed, ended } = startCli(args, {
    env: {
      AWS_REGION: aws.region,
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_ENDPOINT_URL_LAMBDA: aws.endpoints.lambda,
      AWS_ENDPOINT_URL_SFN: aws.endpoints.stepFunctions,
      HOLDFAST_WORKFLOW_FUNCTION: output('Steps'),
      HOLDFAST_SAVEPOINT_WORKFLOW: output('Savepoints'),
      HOLDFAST_RESTORE_WORKFLOW: output('Restores'),
    },
  });
  return { code: await ended, ...printed };
}
