import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { App, Stack } from 'aws-cdk-lib/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUNDLED_HANDLER, buildHandler, bundleHandler } from '../../infra/bundle-handler.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BUNDLE_BYTES_MAX = 1_048_576;

// The AWS clients and the codec, as a real operator has them; `refuse.ts` shows where it failed.
const HANDLER = `
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KinesisClient } from '@aws-sdk/client-kinesis';
import { S3Client } from '@aws-sdk/client-s3';
import { pack, unpack } from 'msgpackr';
import { refuse } from './refuse.ts';

const clients = [DynamoDBClient, KinesisClient, S3Client].map((Client) => new Client({ region: 'eu-central-1' }));

export const handler = async (event: { readonly refuse?: boolean }): Promise<unknown> => {
  if (event.refuse === true) refuse();
  return unpack(pack({ clients: clients.length, event }));
};
`;
const REFUSE = `export function refuse(): never {
  throw new Error('refused');
}
`;

let folder = '';
/** Where the code of `handler.ts` lies after synthesis. */
let deployed = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-bundle-'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'handler.ts'), HANDLER);
  writeFileSync(join(folder, 'refuse.ts'), REFUSE);
  writeFileSync(join(folder, 'other.ts'), 'export const handler = async () => ({});');
  writeFileSync(join(folder, 'broken.ts'), "import { nothing } from './nowhere.ts'; nothing();");
  deployed = join(folder, 'deployed', String(synthesize('deployed', ['handler.ts'])[0]));
}, 60_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Synthesizes one function for each entry; returns the folders of their code. */
function synthesize(outdir: string, entries: readonly string[]): readonly string[] {
  const app = new App({
    outdir: join(folder, outdir),
    analyticsReporting: false,
    builtinCloudFormationValidation: false,
  });
  const stack = new Stack(app, 'Test');
  for (const entry of entries) {
    new LambdaFunction(stack, entry.replace('.', ''), {
      code: bundleHandler(join(folder, entry)),
      handler: BUNDLED_HANDLER,
      runtime: Runtime.NODEJS_24_X,
    });
  }
  app.synth();
  return readdirSync(join(folder, outdir))
    .filter((name) => name.startsWith('asset.'))
    .toSorted();
}

/** Runs the bundle as Lambda does: as a module of its own, with source maps. */
function runBundle(directory: string, event: unknown): string {
  const url = pathToFileURL(join(directory, 'index.mjs')).href;
  const code = `const { handler } = await import(${JSON.stringify(url)});
    try { console.log(JSON.stringify(await handler(${JSON.stringify(event)}))); }
    catch (error) { console.log(error.stack); }`;
  return execFileSync(
    process.execPath,
    ['--enable-source-maps', '--input-type=module', '--eval', code],
    { encoding: 'utf8' },
  );
}

describe('bundleHandler', { timeout: 60_000 }, () => {
  it('makes one module of at most 1 MiB that runs away from its packages', () => {
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-deployed-'));
    try {
      cpSync(deployed, directory, { recursive: true });
      expect(readdirSync(directory).toSorted()).toEqual(['index.mjs', 'index.mjs.map']);
      expect(statSync(join(directory, 'index.mjs')).size).toBeLessThanOrEqual(BUNDLE_BYTES_MAX);
      expect(JSON.parse(runBundle(directory, { x: 1 }))).toEqual({ clients: 3, event: { x: 1 } });
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('leads a stack trace back to the source', () => {
    const stack = runBundle(deployed, { refuse: true });
    expect(stack).toMatch(/^Error: refused\n/);
    expect(stack).toMatch(/refuse\.ts:2:9/);
  });

  it('gives the same sources the same asset, wherever they are synthesized', () => {
    expect(synthesize('once', ['other.ts'])).toEqual(synthesize('deep/twice', ['other.ts']));
  });

  it('keeps two handlers of one folder apart', () => {
    expect(synthesize('two', ['handler.ts', 'other.ts'])).toHaveLength(2);
  });

  it('names the file that cannot be found', () => {
    expect(() => synthesize('broken', ['broken.ts'])).toThrow(
      /Could not resolve "\.\/nowhere\.ts"/,
    );
  });

  it('leaves no package outside', () => {
    const { metafile } = buildHandler(join(folder, 'handler.ts'));
    const external = Object.values(metafile.outputs)
      .flatMap(({ imports }) => imports)
      .map(({ path }) => path)
      .filter((path) => !isBuiltin(path));
    expect(external).toEqual([]);
  });
});
