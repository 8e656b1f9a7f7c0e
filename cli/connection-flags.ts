import { Option, type Command } from 'commander';

/** Where AWS is, and how the result is printed. */
export interface ConnectionFlags {
  readonly region?: string;
  readonly profile?: string;
  readonly endpointUrl?: string;
  readonly json: boolean;
}

export function addConnectionFlags(command: Command): Command {
  return command
    .option('--region <region>', 'the AWS region')
    .option('--profile <name>', 'the profile in the AWS configuration')
    .option('--endpoint-url <url>', 'another endpoint than AWS, for all services')
    .option('--json', 'print the result as JSON', false);
}

/** Puts the flags where the SDK looks for them itself, in all its clients. */
export function useConnection({ region, profile, endpointUrl }: ConnectionFlags): void {
  const { env } = process;
  if (region !== undefined) env['AWS_REGION'] = region;
  if (profile !== undefined) env['AWS_PROFILE'] = profile;
  if (endpointUrl !== undefined) env['AWS_ENDPOINT_URL'] = endpointUrl;
}

/** An option that has to be given, on the command line or by a variable. */
export function mustHave(flags: string, description: string, variable: string): Option {
  return new Option(flags, description).env(variable).makeOptionMandatory();
}
