import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCdk } from '../../../cli/demo/run-cdk.ts';
import { HoldfastError } from '../../../shared/core/errors.ts';
import { endpointAccount, endpointEnvironment, readRegion } from '../endpoint-environment.ts';
import { describeStack } from './describe-stack.ts';
import type { EndpointClients } from './endpoint-clients.ts';

/** Of the CDK's own stack. */
const bootstrapStack = 'CDKToolkit';

export interface DeployOptions {
  readonly url: string;
  /** Becomes part of the names of stack and job. @default none */
  readonly stage?: string;
  readonly shards: number;
  readonly onStep: (text: string) => void;
  readonly signal?: AbortSignal | undefined;
}

export interface Deployment {
  readonly stack: string;
  readonly job: string;
  readonly outputs: Readonly<Record<string, string>>;
}

export function stackName(stage?: string): string {
  return stage === undefined ? 'HoldfastFlightDelays' : `HoldfastFlightDelays-${stage}`;
}

/**
 * Deploys the demonstration's stack as it is deployed to AWS, by the CDK of this project; its data goes with it. The CDK goes to
 * where AWS_ENDPOINT_URL leads.
 *
 * @throws Error with what cdk printed
 */
export async function deployStack(
  { cloudFormation }: EndpointClients,
  { url, stage, shards, onStep, signal }: DeployOptions,
): Promise<Deployment> {
  const stack = stackName(stage);
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-deploy-'));
  const options = {
    env: endpointEnvironment(process.env, url),
    ...(signal === undefined ? {} : { signal }),
  };
  const context = ['-c', 'ephemeral=true', '-c', `shards=${shards}`];
  if (stage !== undefined) context.push('-c', `stage=${stage}`);
  try {
    if ((await describeStack(cloudFormation, bootstrapStack)) === undefined) {
      onStep('cdk bootstrap');
      const environment = `aws://${endpointAccount}/${readRegion(process.env)}`;
      await runCdk(['bootstrap', environment, '--output', folder, ...context], options);
    }
    onStep('cdk deploy');
    const approval = ['--require-approval', 'never'];
    await runCdk(['deploy', stack, ...approval, '--output', folder, ...context], options);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const outputs = (await describeStack(cloudFormation, stack))?.outputs ?? {};
  if (outputs['StreamName'] === undefined) {
    throw new HoldfastError(
      'internal',
      `stack ${stack} is deployed at ${url}, but has no output StreamName; what answers there does not keep outputs`,
    );
  }
  const job = stage === undefined ? 'flight-delays' : `flight-delays-${stage}`;
  return { stack, job, outputs };
}
