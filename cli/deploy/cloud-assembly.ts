import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listJobs, readTemplate, type Template, type TemplateJob } from './job-template.ts';

/*
 * What `cdk synth` writes: https://github.com/aws/aws-cdk-cli (cloud-assembly-schema). Only what is needed of it is read, and what
 * is not understood is handed on as it is.
 */

interface Artifact {
  readonly type: string;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

interface AssemblyManifest {
  readonly version: string;
  readonly artifacts: Readonly<Record<string, Artifact>>;
}

interface FileAsset {
  readonly source: { readonly path?: string; readonly packaging?: string };
  readonly destinations: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

interface AssetManifest {
  readonly version: string;
  readonly files?: Readonly<Record<string, FileAsset>>;
}

/** A stack of an assembly. */
export interface AssembledStack {
  /** What cdk calls it. */
  readonly id: string;
  /** What CloudFormation calls it. */
  readonly stackName: string;
  readonly folder: string;
  readonly template: Template;
  readonly jobs: readonly TemplateJob[];
}

export class AssemblyError extends Error {}

/**
 * Finds the stack that is meant, where none is named the only one that has a job.
 *
 * @param folder what cdk synth has written
 * @throws AssemblyError where there is none, or more than one
 */
export function findStack(folder: string, name: string | undefined): AssembledStack {
  const stacks = listStacks(folder);
  const names = stacks.map(({ id }) => id).join(', ') || 'none';
  if (name !== undefined) {
    const found = stacks.find(({ id, stackName }) => id === name || stackName === name);
    if (found !== undefined) return found;
    throw new AssemblyError(`the app has no stack ${name}; it has ${names}`);
  }
  const candidates = stacks.filter(({ jobs }) => jobs.length > 0);
  if (candidates.length === 1) return candidates[0]!;
  throw new AssemblyError(
    candidates.length === 0
      ? `no stack of the app has a StreamJob; it has stacks ${names}`
      : `more than one stack has a StreamJob: name one of ${candidates.map(({ id }) => id).join(', ')}`,
  );
}

function listStacks(folder: string): AssembledStack[] {
  const { artifacts } = readJson<AssemblyManifest>(folder, 'manifest.json');
  return Object.entries(artifacts).flatMap(([id, { type, properties = {} }]) => {
    const { templateFile, stackName } = properties;
    if (type !== 'aws:cloudformation:stack' || typeof templateFile !== 'string') return [];
    const template = readTemplate(readFileSync(join(folder, templateFile), 'utf8'), templateFile);
    return [
      {
        ...{ id, folder, template, jobs: listJobs(template) },
        stackName: typeof stackName === 'string' ? stackName : id,
      },
    ];
  });
}

/**
 * Where the code of an asset lies on this machine; undefined where cdk did not write it.
 *
 * @param key name of its object in the bucket for assets
 */
export function findAsset({ folder, id }: AssembledStack, key: string): string | undefined {
  const { artifacts } = readJson<AssemblyManifest>(folder, 'manifest.json');
  const file = artifacts[`${id}.assets`]?.properties?.['file'];
  if (typeof file !== 'string') return undefined;
  const { files = {} } = readJson<AssetManifest>(folder, file);
  const found = Object.values(files).find(({ destinations }) =>
    Object.values(destinations).some(({ objectKey }) => objectKey === key),
  );
  const path = found?.source.path;
  return path === undefined ? undefined : join(folder, path);
}

/**
 * Writes an assembly that deploys the template that is deployed now: the way back, whatever happens to the source. The code that it
 * names is in the bucket for assets, to which it was put when it was deployed.
 *
 * @param templateText as CloudFormation gives it
 * @param target a folder; made where it is not there
 */
export function writePreviousAssembly(
  { folder, id }: AssembledStack,
  templateText: string,
  target: string,
): void {
  const manifest = readJson<AssemblyManifest>(folder, 'manifest.json');
  const stack = manifest.artifacts[id]!;
  const assetsId = `${id}.assets`;
  const assets = manifest.artifacts[assetsId];
  const templateFile = String(stack.properties?.['templateFile']);
  const hash = createHash('sha256').update(templateText).digest('hex');
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, templateFile), templateText);
  const kept: Record<string, Artifact> = { [id]: withoutOthers(stack, assetsId) };
  if (assets !== undefined) {
    const file = String(assets.properties?.['file']);
    const listed = readJson<AssetManifest>(folder, file);
    const ofTemplate = Object.entries(listed.files ?? {}).filter(
      ([, { source }]) => source.path === templateFile,
    );
    const files = Object.fromEntries(
      ofTemplate.map(([before, asset]) => [hash, replaceHash(asset, before, hash)]),
    );
    writeJson(target, file, { ...listed, files, dockerImages: {} });
    kept[assetsId] = assets;
    for (const [before] of ofTemplate) kept[id] = replaceHash(kept[id]!, before, hash);
  }
  writeJson(target, 'manifest.json', { version: manifest.version, artifacts: kept });
}

/** Without what it says of artifacts that are not there. */
function withoutOthers(stack: Artifact, assetsId: string): Artifact {
  const dependencies = (stack['dependencies'] ?? []) as readonly string[];
  const kept = Object.entries(stack).filter(
    ([field]) => field !== 'additionalMetadataFile' && field !== 'metadata',
  );
  return {
    ...(Object.fromEntries(kept) as unknown as Artifact),
    dependencies: dependencies.filter((one) => one === assetsId),
  };
}

/** A template is stored under its hash, and one that is stored is not put again. */
function replaceHash<Value extends object>(value: Value, before: string, after: string): Value {
  return JSON.parse(JSON.stringify(value).replaceAll(before, after)) as Value;
}

function readJson<Value>(folder: string, file: string): Value {
  return JSON.parse(readFileSync(join(folder, file), 'utf8')) as Value;
}

function writeJson(folder: string, file: string, value: unknown): void {
  writeFileSync(join(folder, file), JSON.stringify(value, undefined, 1));
}
