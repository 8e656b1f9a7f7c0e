import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { askBundle, fillVariables } from '../../../../cli/deploy/ask-bundle.ts';
import {
  findAsset,
  findStack,
  writePreviousAssembly,
} from '../../../../cli/deploy/cloud-assembly.ts';
import type { OperatorCode } from '../../../../cli/deploy/job-template.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-assembly-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

const template = {
  Resources: {
    Registration: {
      Type: 'Custom::HoldfastJob',
      Properties: { JobName: 'orders', MaxParallelism: '128', Operators: ['totals'] },
    },
    Operator: {
      Type: 'AWS::Lambda::Function',
      Properties: {
        Code: { S3Bucket: 'assets', S3Key: 'code1.zip' },
        Handler: 'index.handler',
        Timeout: 60,
        Environment: { Variables: { HOLDFAST_JOB: 'orders', HOLDFAST_OPERATOR: 'totals' } },
      },
    },
    Coordinator: {
      Type: 'AWS::Lambda::Function',
      Properties: {
        Environment: {
          Variables: { HOLDFAST_JOB: 'orders', HOLDFAST_CHECKPOINTING: '{"intervalSeconds":90}' },
        },
      },
    },
  },
};

const fileOf = (path: string, objectKey: string) => ({
  source: { path, packaging: 'file' },
  destinations: { here: { bucketName: 'assets', objectKey } },
});

/** As cdk synth writes them, with one job in the first stack. */
function writeAssembly(): void {
  const write = (file: string, value: unknown): void =>
    writeFileSync(join(folder, file), JSON.stringify(value));
  const stack = (id: string, stackName: string) => ({
    type: 'aws:cloudformation:stack',
    environment: 'aws://unknown-account/unknown-region',
    properties: {
      templateFile: `${id}.template.json`,
      stackName,
      stackTemplateAssetObjectUrl: `s3://assets/hash-of-${id}.json`,
    },
    dependencies: [`${id}.assets`, 'Other'],
    additionalMetadataFile: `${id}.metadata.json`,
  });
  write('manifest.json', {
    version: '55.0.0',
    artifacts: {
      'Orders.assets': { type: 'cdk:asset-manifest', properties: { file: 'Orders.assets.json' } },
      Orders: stack('Orders', 'orders-test'),
      Other: stack('Other', 'other-test'),
      Tree: { type: 'cdk:tree', properties: { file: 'tree.json' } },
    },
  });
  write('Orders.template.json', template);
  write('Other.template.json', { Resources: {} });
  write('Orders.assets.json', {
    version: '55.0.0',
    files: {
      code1: fileOf('asset.code1', 'code1.zip'),
      'hash-of-Orders': fileOf('Orders.template.json', 'hash-of-Orders.json'),
    },
  });
}

describe('what cdk synth has written', () => {
  beforeEach(writeAssembly);

  it('has the stack with a job, or the one that is named by either name', () => {
    expect(findStack(folder, undefined)).toMatchObject({ id: 'Orders', stackName: 'orders-test' });
    expect(findStack(folder, 'other-test').id).toBe('Other');
    expect(() => findStack(folder, 'Sales')).toThrow('no stack Sales; it has Orders, Other');
  });

  it('tells of a job what a deployment is compared by', () => {
    expect(findStack(folder, 'Orders').jobs).toEqual([
      {
        ...{ name: 'orders', maxParallelism: 128, operators: ['totals'], sinks: {} },
        ...{ stream: undefined, checkpointIntervalMs: 90_000 },
        code: [
          expect.objectContaining({ operator: 'totals', asset: 'code1.zip', timeoutMs: 60_000 }),
        ],
      },
    ]);
  });

  it('has the code of an operator, by the name of its object', () => {
    const stack = findStack(folder, 'Orders');
    expect(findAsset(stack, 'code1.zip')).toBe(join(folder, 'asset.code1'));
    expect(findAsset(stack, 'code2.zip')).toBeUndefined();
  });

  it('becomes an assembly of the template that was deployed, with no code to put anywhere', () => {
    const target = join(folder, 'back', 'there');
    const before = JSON.stringify({ Resources: { Old: { Type: 'AWS::S3::Bucket' } } });
    writePreviousAssembly(findStack(folder, 'Orders'), before, target);
    expect(findStack(target, 'Orders').template.Resources).toHaveProperty('Old');
    const read = (file: string): string => readFileSync(join(target, file), 'utf8');
    const { files } = JSON.parse(read('Orders.assets.json')) as {
      files: Record<string, ReturnType<typeof fileOf>>;
    };
    const [[hash, asset], ...others] = Object.entries(files) as [
      [string, ReturnType<typeof fileOf>],
    ];
    expect(others).toEqual([]);
    // Under the hash of the new template S3 has the new template.
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(asset).toEqual(fileOf('Orders.template.json', `${hash}.json`));
    const { artifacts } = JSON.parse(read('manifest.json')) as {
      artifacts: Record<string, { properties: Record<string, unknown>; dependencies?: string[] }>;
    };
    expect(Object.keys(artifacts).sort()).toEqual(['Orders', 'Orders.assets']);
    expect(artifacts['Orders']).toMatchObject({
      properties: { stackTemplateAssetObjectUrl: `s3://assets/${hash}.json` },
      dependencies: ['Orders.assets'],
    });
    expect(artifacts['Orders']).not.toHaveProperty('additionalMetadataFile');
  });
});

describe('code that is asked before it is deployed', () => {
  const code: OperatorCode = {
    ...{ operator: 'totals', logicalId: 'Operator', asset: 'code1.zip' },
    ...{ handler: 'index.handler', timeoutMs: 60_000 },
    variables: { HOLDFAST_SINKS: { 'Fn::Join': ['', ['{"rows":"', { Ref: 'Rows' }, '"}']] } },
  };
  const ask = (source: string) => {
    const asset = join(folder, 'asset');
    mkdirSync(asset);
    writeFileSync(join(asset, 'index.mjs'), source);
    return askBundle(code, asset);
  };

  it('answers with its contract, whatever it prints, and is told what its function would be', async () => {
    const contract = { id: 'totals', states: [], sinks: [], timeRules: '' };
    const asked = await ask(`
      console.log('loading');
      const { HOLDFAST_SINKS, AWS_SECRET_ACCESS_KEY } = process.env;
      export const handler = async ({ holdfast }) => ({
        holdfast: 'contract',
        contract: { ...${JSON.stringify(contract)}, timeRules: [holdfast, HOLDFAST_SINKS, AWS_SECRET_ACCESS_KEY].join() },
      });`);
    const timeRules = 'describe,{"rows":"not-deployed-yet"},';
    expect(asked).toEqual({ kind: 'contract', contract: { ...contract, timeRules } });
  });

  it.each([
    [
      'refused',
      `throw Object.assign(new Error('sinks differ'), { name: 'ConfigurationError' });`,
      'sinks differ',
    ],
    ['unknown', `throw new Error('no native module');`, 'no native module'],
    [
      'unknown',
      `export const handler = async () => ({ statusCode: 200 });`,
      'cannot read what operator totals has answered',
    ],
    ['unknown', `process.exit(3);`, 'it gave no answer'],
  ])('is %s where it says %s', async (kind, source, reason) => {
    expect(await ask(source)).toMatchObject({
      kind,
      reason: expect.stringContaining(reason) as string,
    });
  });

  it('is not known where its bundle is not there', async () => {
    const reason = 'its bundle is not on this machine';
    expect(await askBundle(code, undefined)).toMatchObject({ kind: 'unknown', reason });
    expect(await askBundle(code, join(folder, 'none'))).toMatchObject({ kind: 'unknown', reason });
  });

  it('is told names of the right form', () => {
    const filled = fillVariables({
      HOLDFAST_STREAM_ARN: { 'Fn::GetAtt': ['Source', 'Arn'] },
      HOLDFAST_BUCKET: { Ref: 'Bucket' },
      HOLDFAST_JOB: 'orders',
    });
    expect(filled).toEqual({
      HOLDFAST_STREAM_ARN: expect.stringMatching(/^arn:aws:kinesis:.*:stream\//) as string,
      HOLDFAST_BUCKET: 'not-deployed-yet',
      HOLDFAST_JOB: 'orders',
    });
  });
});
