import { startCli } from '../demo/run-cli.ts';
import { workflowEnvironment } from '../embedded/job-outputs.ts';
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
    env: workflowEnvironment(aws, (name) => output(`${prefix}${name}`)),
  });
  return { code: await ended, ...printed };
}
