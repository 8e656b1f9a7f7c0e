import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * The program of the project's own `aws-cdk`, for Node to run.
 *
 * @throws Error where it is not installed
 */
export function findCdk(): string {
  const cdk = dirname(createRequire(import.meta.url).resolve('aws-cdk/package.json'));
  return join(cdk, 'bin', 'cdk');
}

/** An environment for cdk: cdk.json starts `node`, which has to be this one. */
export function withThisNode(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...env, PATH: `${dirname(process.execPath)}:${env['PATH'] ?? ''}` };
}
