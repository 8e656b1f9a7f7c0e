import { readFile } from 'node:fs/promises';
import path from 'node:path';

import {
  asText,
  isTemplateObject,
  type TemplateObject,
  type TemplateValue,
} from './template-value.ts';

/** The files that `cdk synth` prepared for upload, found by where a deployment would put them. */
export interface AssetsManifest {
  /** The directory whose content is the object `key` of `bucket`. Throws if there is none. */
  directoryOf(bucket: string, key: string): string;
}

/**
 * Reads `<Stack>.assets.json` beside the template. Nothing is uploaded here: functions run from the very directories. A
 * template without assets has no manifest, so a missing file only matters when an asset is asked for.
 */
export async function readAssetsManifest(
  templateFile: string,
  place: { region: string; accountId: string },
): Promise<AssetsManifest> {
  const manifestFile = templateFile.replace(/(\.template)?\.json$/, '.assets.json');
  const files = await readFiles(manifestFile);
  const directories = new Map<string, string>();
  for (const asset of Object.values(files)) {
    const source = objectAt(asset, 'source');
    if (source['packaging'] !== 'zip') continue;
    const directory = path.resolve(
      path.dirname(manifestFile),
      asText(source['path'], manifestFile),
    );
    for (const destination of Object.values(objectAt(asset, 'destinations'))) {
      const bucket = withPlace(asText(objectAt(destination)['bucketName'], manifestFile), place);
      directories.set(
        `${bucket}/${asText(objectAt(destination)['objectKey'], manifestFile)}`,
        directory,
      );
    }
  }
  return {
    directoryOf(bucket, key) {
      const directory = directories.get(`${bucket}/${key}`);
      if (directory !== undefined) return directory;
      throw new Error(
        `no directory asset is stored at s3://${bucket}/${key} by "${manifestFile}"; run \`cdk synth\` again, ` +
          'and give functions their code with Code.fromAsset(directory)',
      );
    },
  };
}

async function readFiles(manifestFile: string): Promise<TemplateObject> {
  try {
    return objectAt(JSON.parse(await readFile(manifestFile, 'utf8')) as TemplateValue, 'files');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new Error(`cannot read the assets manifest "${manifestFile}"`, { cause: error });
  }
}

function objectAt(value: TemplateValue | undefined, name?: string): TemplateObject {
  const found = name === undefined ? value : isTemplateObject(value) ? value[name] : undefined;
  return isTemplateObject(found) ? found : {};
}

function withPlace(text: string, place: { region: string; accountId: string }): string {
  return text
    .replaceAll('${AWS::AccountId}', place.accountId)
    .replaceAll('${AWS::Region}', place.region)
    .replaceAll('${AWS::Partition}', 'aws');
}
