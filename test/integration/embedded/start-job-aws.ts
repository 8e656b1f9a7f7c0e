import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { CfnOutput, Stack } from 'aws-cdk-lib/core';
import {
  startEmbeddedAws,
  type EmbeddedAws,
  type EmbeddedAwsOptions,
} from '../../../localstack/embedded/embedded-aws.ts';
import {
  createServiceClients,
  type ServiceClients,
} from '../../../localstack/embedded/service-clients.ts';
import { createApp } from '../../infra/synthesize-job.ts';

export interface JobAws {
  readonly aws: EmbeddedAws;
  readonly clients: ServiceClients;
  /** What functions have printed. */
  readonly printed: readonly string[];
  stop(): Promise<void>;
}

/**
 * Starts the embedded AWS with a stack of its own, bundled as for AWS.
 *
 * @param addTo puts jobs into the stack, and gives its outputs by name
 */
export async function startJobAws(
  name: string,
  addTo: (stack: Stack) => Readonly<Record<string, string>>,
  options: Omit<EmbeddedAwsOptions, 'templateFile' | 'log'> = {},
): Promise<JobAws> {
  const app = createApp();
  const remove = (): void => {
    rmSync(app.outdir, { recursive: true, force: true });
  };
  const printed: string[] = [];
  try {
    const stack = new Stack(app, name);
    for (const [output, value] of Object.entries(addTo(stack))) {
      new CfnOutput(stack, output, { value });
    }
    app.synth();
    const aws = await startEmbeddedAws({
      ...options,
      templateFile: join(app.outdir, `${name}.template.json`),
      log: (line) => printed.push(line),
      pace: { pollIntervalMsMax: 250, retryDelayMsMax: 100, ...options.pace },
    });
    const clients = createServiceClients(aws.endpoints, aws.region);
    return {
      ...{ aws, clients, printed },
      async stop() {
        clients.destroy();
        await aws.stop();
        remove();
      },
    };
  } catch (thrown) {
    remove();
    throw thrown;
  }
}
