import { join } from 'node:path';
import { runCdk } from './run-cdk.ts';

/**
 * Runs `cdk synth` for the demo stack and returns the path of the template.
 *
 * @throws Error with what cdk printed
 */
export async function synthesize(outputFolder: string, shards: number): Promise<string> {
  const context = ['-c', `shards=${shards}`, '-c', 'ephemeral=true'];
  await runCdk(['synth', '--quiet', '--output', outputFolder, ...context]);
  return join(outputFolder, 'HoldfastFlightDelays.template.json');
}
