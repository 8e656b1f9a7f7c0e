import { describe, expect, it } from 'vitest';
import {
  checkDeployment,
  type AskedCode,
  type DeploymentFacts,
} from '../../../../cli/deploy/check-deployment.ts';
import { findLostResources } from '../../../../cli/deploy/compare-templates.ts';
import type { Template, TemplateJob } from '../../../../cli/deploy/job-template.ts';
import type { OperatorContract } from '../../../../shared/core/manifest.ts';
import type { Job } from '../../../../shared/ports/control-store.ts';

const stream = 'arn:aws:kinesis:us-east-1:000000000000:stream/orders';

const template: Template = {
  Resources: {
    State: {
      Type: 'AWS::DynamoDB::Table',
      Properties: { KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }], BillingMode: 'x' },
    },
    Source: { Type: 'AWS::Kinesis::Stream', Properties: { ShardCount: 2 } },
    Bucket: { Type: 'AWS::S3::Bucket' },
    Role: { Type: 'AWS::IAM::Role' },
  },
};

const declared: TemplateJob = {
  name: 'orders',
  maxParallelism: 128,
  operators: ['totals'],
  sinks: {},
  stream,
  code: [],
  checkpointIntervalMs: 60_000,
};

const job: Job = {
  name: 'orders',
  version: 3,
  generation: 1,
  status: 'running',
  maxParallelism: 128,
  operators: ['totals'],
  hold: undefined,
  timeline: [],
};

const contract: OperatorContract = {
  id: 'totals',
  states: [{ name: 'spent', kind: 'value', version: 1 }],
  sinks: [{ name: 'rows', kind: 'upsert' }],
  timeRules: '',
};

const facts: DeploymentFacts = {
  next: { template, job: declared },
  deployed: { template, job: declared },
  job,
  streamArn: stream,
  manifest: { operators: [contract], maxParallelism: 128 },
  code: [{ kind: 'contract', contract }],
  removable: new Set(),
};

const check = (changes: Partial<DeploymentFacts>) => checkDeployment({ ...facts, ...changes });
const nextJob = (changes: Partial<TemplateJob>) => ({
  next: { template, job: { ...declared, ...changes } },
});
const texts = (changes: Partial<DeploymentFacts>): string[] =>
  check(changes).problems.map(({ text }) => text);
const codeWith = (changes: Partial<OperatorContract>): { code: AskedCode[] } => ({
  code: [{ kind: 'contract', contract: { ...contract, ...changes } }],
});

describe('the check before a deployment', () => {
  it('finds nothing against what is deployed already, nor against a first deployment', () => {
    expect(check({})).toEqual({ problems: [], notes: [] });
    const first = {
      deployed: undefined,
      job: undefined,
      streamArn: undefined,
      manifest: undefined,
    };
    expect(check(first)).toEqual({ problems: [], notes: [] });
  });

  it.each<readonly [string, Partial<DeploymentFacts>, string]>([
    [
      'another maxParallelism',
      nextJob({ maxParallelism: 64 }),
      'has maxParallelism 128, the code asks for 64',
    ],
    ['a renamed operator', nextJob({ operators: ['sums'] }), 'operators totals go while sums come'],
    [
      'another name',
      nextJob({ name: 'sales' }),
      'the stack has job orders, the code has job sales',
    ],
    [
      'another stream',
      nextJob({ stream: `${stream}-2` }),
      `the job reads ${stream}, the code gives it ${stream}-2`,
    ],
    [
      'a hold',
      {
        job: {
          ...job,
          hold: {
            id: 'h',
            kind: 'restore',
            owner: 'r1',
            sinceMs: 0,
            isFlipped: false,
            undo: undefined,
          },
        },
      },
      'job orders is held by restore r1',
    ],
    ['a state that is gone', codeWith({ states: [] }), 'state "spent" of operator totals is gone'],
    [
      'a state of another kind',
      codeWith({ states: [{ name: 'spent', kind: 'map', version: 1 }] }),
      'was a value state and is a map state',
    ],
    [
      'a sink of another kind',
      codeWith({ sinks: [{ name: 'rows', kind: 'append' }] }),
      'was an upsert sink and is an append sink',
    ],
    [
      'code that refuses its deployment',
      { code: [{ kind: 'refused', operator: 'totals', reason: 'sinks differ' }] },
      'refuses its deployment: sinks differ',
    ],
  ])('refuses %s', (_, changes, text) => {
    expect(texts(changes)).toEqual([expect.stringContaining(text)]);
    expect(check(changes).problems[0]!.remedy).not.toBe('');
  });

  it('refuses code that is older than the state, and takes newer code', () => {
    const newer = { ...contract, states: [{ name: 'spent', kind: 'value' as const, version: 2 }] };
    expect(texts({ manifest: { operators: [newer], maxParallelism: 128 } })).toEqual([
      expect.stringContaining('schema version 2, the code reads up to 1'),
    ]);
    expect(texts(codeWith({ states: newer.states }))).toEqual([]);
  });

  it('refuses another stream of the stack, and takes the same one', () => {
    const own = { 'Fn::GetAtt': ['Source', 'Arn'] };
    const deployed = { template, job: { ...declared, stream: own } };
    expect(texts({ deployed, ...nextJob({ stream: own }) })).toEqual([]);
    const other = { 'Fn::GetAtt': ['Source2', 'Arn'] };
    expect(texts({ deployed, ...nextJob({ stream: other }) })).toHaveLength(1);
  });

  it('says everything at once', () => {
    const all = {
      ...nextJob({ maxParallelism: 64, stream: 'arn:other' }),
      ...codeWith({ states: [] }),
    };
    expect(texts(all)).toHaveLength(3);
  });

  it('lets operators go and come, and says what that means', () => {
    const { problems, notes } = check({
      ...nextJob({ operators: ['totals', 'alerts'] }),
      job: { ...job, operators: ['totals'] },
    });
    expect(problems).toEqual([]);
    expect(notes).toEqual([expect.stringContaining('operator alerts is new')]);
    const gone = check({ ...nextJob({ operators: [] }), code: [] });
    expect(gone.problems).toEqual([]);
    expect(gone.notes).toEqual([expect.stringContaining('operator totals goes')]);
  });

  it('says where code cannot be asked', () => {
    const code: AskedCode[] = [{ kind: 'unknown', operator: 'totals', reason: 'no bundle' }];
    const { problems, notes } = check({ code });
    expect(problems).toEqual([]);
    expect(notes).toEqual([expect.stringContaining('(no bundle): it is asked right after')]);
  });
});

describe('resources that hold data', () => {
  const change = (resources: Template['Resources']): Template => ({
    Resources: { ...template.Resources, ...resources },
  });
  const without = (id: string): Template => ({
    Resources: Object.fromEntries(
      Object.entries(template.Resources).filter(([name]) => name !== id),
    ),
  });

  it.each(['State', 'Source', 'Bucket'])('may not leave the stack: %s', (id) => {
    const [problem] = findLostResources(template, without(id), new Set());
    expect(problem!.text).toContain('would leave the stack');
    expect(problem!.remedy).toContain(`--allow-removal ${id}`);
    expect(findLostResources(template, without(id), new Set([id]))).toEqual([]);
  });

  it('may not be replaced by empty ones', () => {
    const keys = { State: { ...template.Resources['State']!, Properties: { KeySchema: [] } } };
    const named = { Source: { Type: 'AWS::Kinesis::Stream', Properties: { Name: 'own' } } };
    expect(findLostResources(template, change({ ...keys, ...named }), new Set())).toEqual([
      expect.objectContaining({ text: expect.stringContaining('KeySchema is another') as string }),
      expect.objectContaining({ text: expect.stringContaining('Name is another') as string }),
    ]);
  });

  it('may change in place, and what holds no data may go', () => {
    const grown = { Source: { Type: 'AWS::Kinesis::Stream', Properties: { ShardCount: 8 } } };
    expect(findLostResources(template, change(grown), new Set())).toEqual([]);
    expect(findLostResources(template, without('Role'), new Set())).toEqual([]);
  });
});
