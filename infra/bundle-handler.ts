import { writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { AssetHashType, DockerImage } from 'aws-cdk-lib/core';
import { buildSync, type BuildResult } from 'esbuild';

/** The file and the export that Lambda starts. */
export const BUNDLED_HANDLER = 'index.handler';

const BUNDLE_FILE = 'index.mjs';

// Packages in the old module format ask for Node's own modules through `require`, which an ES
// module lacks. The long names are free: minified names are short.
const REQUIRE_FOR_OLD_PACKAGES =
  "import { createRequire as holdfastCreateRequire } from 'node:module';" +
  'const require = holdfastCreateRequire(import.meta.url);';

/**
 * The handler in `entry` with everything that it imports, as one ES module. The AWS SDK is inside:
 * the version that was tested is part of the artefact, and what the Lambda runtime happens to
 * carry is not. Needs neither Docker nor a network; the same sources give the same asset hash.
 */
export function bundleHandler(entry: string): Code {
  const path = resolve(entry);
  return Code.fromAsset(dirname(path), {
    // Of what comes out: a change that leaves the bundle as it is deploys nothing.
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      // Never started: `local` always answers. CDK knows a bundle by these options, so the file
      // must be among them, or two handlers in one folder would be taken for one.
      image: DockerImage.fromRegistry('not-used'),
      command: [basename(path)],
      local: {
        tryBundle(outputDir) {
          for (const file of buildHandler(path).outputFiles) {
            writeFileSync(join(outputDir, basename(file.path)), file.contents);
          }
          return true;
        },
      },
    },
  });
}

type HandlerBuild = BuildResult<{ write: false; metafile: true }>;

/** The bundle in memory, with what went into it. Paths are relative to the current folder. */
export function buildHandler(entry: string): HandlerBuild {
  return buildSync({
    entryPoints: [entry],
    // A name, not a place: source paths are relative to it, and must not depend on where CDK
    // puts the files.
    outfile: resolve(BUNDLE_FILE),
    write: false,
    metafile: true,
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    // Packages that have both formats are taken in the one whose unused parts can be left out.
    mainFields: ['module', 'main'],
    banner: { js: REQUIRE_FOR_OLD_PACKAGES },
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'none',
    logLevel: 'silent',
  });
}
