import { renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { buildHandler } from '../../../infra/bundle-handler.ts';
import type { EmbeddedAws } from '../../../localstack/embedded/embedded-aws.ts';

/**
 * Replaces the code of a function, as a deployment does. None of its processes outlives that: what they had under way is
 * delivered again.
 *
 * @param cdkOut where the stack was synthesized to
 * @param handler the file that exports `handler`
 */
export function deployCode(
  aws: EmbeddedAws,
  functionName: string,
  cdkOut: string,
  handler: string,
): void {
  for (const { path, contents } of buildHandler(handler).outputFiles) {
    const file = join(cdkOut, assetOf(aws, functionName), basename(path));
    // A process that starts meanwhile finds the one or the other.
    writeFileSync(`${file}.new`, contents);
    renameSync(`${file}.new`, file);
  }
  aws.functions.kill(functionName);
}

/** The folder of a function's code. */
function assetOf({ resources }: EmbeddedAws, functionName: string): string {
  const found = resources
    .values()
    .find(
      ({ type, physicalId }) => type === 'AWS::Lambda::Function' && physicalId === functionName,
    );
  const { S3Key } = found!.properties['Code'] as { readonly S3Key: string };
  return `asset.${S3Key.replace(/\.zip$/, '')}`;
}
