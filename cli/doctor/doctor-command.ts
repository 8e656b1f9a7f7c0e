import { InvalidArgumentError, type Command } from 'commander';
import { addConnectionFlags, useConnection, type ConnectionFlags } from '../connection-flags.ts';
import { createProgressDisplay } from '../workflow/progress-display.ts';
import { readEndpoints } from './endpoints.ts';
import { doctorServices, type DoctorService } from './finding.ts';
import { formatReport } from './format-report.ts';
import { DoctorStopped, runDoctor, type DoctorReport } from './run-doctor.ts';

interface DoctorFlags extends ConnectionFlags {
  readonly endpoint?: string;
  readonly only: readonly DoctorService[];
  readonly aws: boolean;
  readonly role?: string;
}

/** Emulators take any role. */
const anyRole = 'arn:aws:iam::000000000000:role/holdfast-doctor';

/** AWS takes minutes to begin a mapping; see ClinicSupplies. */
const patienceWithAws = 10;

const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * `holdfast doctor`: exit code 1 where something that Holdfast needs is missing or differs, 2 where it could not be asked, or
 * something was left behind.
 */
export function addDoctorCommand(program: Command): void {
  addConnectionFlags(program.command('doctor'))
    .description(
      'find out whether an AWS endpoint (LocalStack, MiniStack, …) can do what Holdfast needs, by temporary resources that are taken away again',
    )
    .option('--endpoint <url>', 'the same as --endpoint-url')
    .option(
      '--only <services>',
      `the services to probe, parted by commas: ${doctorServices.join(', ')}`,
      readServices,
      [...doctorServices],
    )
    .option('--aws', 'probe AWS itself, where the temporary resources cost some cents', false)
    .option('--role <arn>', 'on AWS: the role for the temporary functions and state machines')
    .action(async (flags: DoctorFlags) => {
      process.exitCode = await doctor(flags);
    });
}

function readServices(text: string): DoctorService[] {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !doctorServices.some((service) => service === name));
  if (unknown.length === 0) return names as DoctorService[];
  throw new InvalidArgumentError(
    `expected some of ${doctorServices.join(', ')}, parted by commas; got ${unknown.join(', ')}`,
  );
}

async function doctor(flags: DoctorFlags): Promise<number> {
  const { only: services, aws, json } = flags;
  const endpointUrl = flags.endpoint ?? flags.endpointUrl;
  useConnection(endpointUrl === undefined ? flags : { ...flags, endpointUrl });
  const endpoints = readEndpoints(process.env, services, aws);
  const stop = new AbortController();
  const onSignal = (signal: NodeJS.Signals): void => {
    // A second one does not wait for what is taken away.
    if (stop.signal.aborted) process.exit(exitCodes[signal as keyof typeof exitCodes]);
    console.error('holdfast: taking away what was made; once more to leave it behind');
    stop.abort(signal);
  };
  const signals = Object.keys(exitCodes) as (keyof typeof exitCodes)[];
  for (const signal of signals) process.on(signal, onSignal);
  const display = process.stderr.isTTY ? createProgressDisplay() : undefined;
  try {
    const report = await runDoctor({
      ...{ endpoints, services, env: process.env, signal: stop.signal },
      ...{
        roleArn: flags.role ?? (aws ? undefined : anyRole),
        patience: aws ? patienceWithAws : 1,
      },
      tell: (service, capability) => display?.show({ state: `${service}: ${capability}` }),
    });
    display?.end();
    console.log(json ? formatJson(report) : formatReport(report));
    return report.left.length > 0 ? 2 : report.verdict.exitCode;
  } catch (thrown) {
    if (!(thrown instanceof DoctorStopped)) throw thrown;
    for (const what of thrown.left) console.error(`holdfast: left behind: ${what}`);
    return exitCodes[thrown.cause as keyof typeof exitCodes];
  } finally {
    display?.end();
    for (const signal of signals) process.off(signal, onSignal);
  }
}

function formatJson({ verdict, diagnoses, left }: DoctorReport): string {
  return JSON.stringify({ verdict: verdict.kind, probes: diagnoses, left }, undefined, 2);
}
