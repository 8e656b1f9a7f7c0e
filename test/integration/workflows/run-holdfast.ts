import { startCli } from '../demo/run-cli.ts';
import type { LedgerAws, Prefix } from './ledger-aws.ts';

export interface HoldfastRun {
  readonly code: number | NodeJS.Signals;
  readonly out: string;
  readonly err: string;
}

/** Runs the command line on the embedded AWS. */
export function runHoldfast(ledger: LedgerAws, ...args: string[]): Promise<HoldfastRun> {
  return runHoldfastOn(ledger, '', ...args);
}

/** Runs the command line on one of two jobs. */
export async function runHoldfastOn(
  { aws, output }: LedgerAws,
  prefix: Prefix,
  ...args: string[]
): Promise<HoldfastRun> {
  const { printed, ended } = startCli(args, {
    env: {
      AWS_REGION: aws.region,
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_ENDPOINT_URL_LAMBDA: aws.endpoints.lambda,
      AWS_ENDPOINT_URL_SFN: aws.endpoints.stepFunctions,
      HOLDFAST_WORKFLOW_FUNCTION: output(`${prefix}Steps`),
      HOLDFAST_SAVEPOINT_WORKFLOW: output(`${prefix}Savepoints`),
      HOLDFAST_RESTORE_WORKFLOW: output(`${prefix}Restores`),
    },
  });
  return { code: await ended, ...printed };
}
