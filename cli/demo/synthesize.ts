import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const projectFolder = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/**
 * Runs `cdk synth` for the demo stack and returns the path of the template.
 *
 * @throws Error with what cdk printed
 */
export async function synthesize(outputFolder: string, shards: number): Promise<string> {
  const require = createRequire(import.meta.url);
  const cdk = join(dirname(require.resolve('aws-cdk/package.json')), 'bin', 'cdk');
  const context = ['-c', `shards=${shards}`, '-c', 'ephemeral=true'];
  const args = [cdk, 'synth', '--quiet', '--output', outputFolder, ...context];
  const child = spawn(process.execPath, args, {
    cwd: projectFolder,
    stdio: ['ignore', 'pipe', 'pipe'],
    // cdk.json starts `node`, which has to be this one.
    env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}` },
  });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (exitCode !== 0) throw new Error(`cdk synth ended with ${exitCode}:\n${printed}`);
  return join(outputFolder, 'HoldfastFlightDelays.template.json');
}
