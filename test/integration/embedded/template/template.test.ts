import path from 'node:path';
import { writeFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { evaluateConditions } from '../../../../localstack/embedded/template/conditions.ts';
import { orderResources } from '../../../../localstack/embedded/template/dependency-order.ts';
import {
  resolveValue,
  type ResolutionScope,
} from '../../../../localstack/embedded/template/intrinsics.ts';
import { parameterValues } from '../../../../localstack/embedded/template/parameters.ts';
import { parseTemplate, readTemplate } from '../../../../localstack/embedded/template/template.ts';
import type { TemplateValue } from '../../../../localstack/embedded/template/template-value.ts';
import { tempDirectory } from '../temp-directory.ts';

const place = {
  stackName: 'Orders',
  region: 'us-east-1',
  accountId: '000000000000',
  stackId: 'arn:aws:cloudformation:us-east-1:000000000000:stack/Orders/1',
};

const scope: ResolutionScope = {
  parameters: new Map<string, TemplateValue>([
    ['Stage', 'test'],
    ['AWS::Region', 'us-east-1'],
  ]),
  mappings: { Sizes: { test: { memory: 256 } } },
  conditions: new Map([
    ['Yes', true],
    ['No', false],
  ]),
  resources: new Map([
    ['Table', { physicalId: 'table-1', attributes: { Arn: 'arn:table', 'Nested.Part': 'p' } }],
  ]),
};

function resolve(value: TemplateValue): TemplateValue | undefined {
  return resolveValue(value, scope, 'Here');
}

describe('intrinsic functions', () => {
  it.each<[string, TemplateValue, TemplateValue]>([
    ['Ref to a parameter', { Ref: 'Stage' }, 'test'],
    ['Ref to a pseudo parameter', { Ref: 'AWS::Region' }, 'us-east-1'],
    ['Ref to a resource', { Ref: 'Table' }, 'table-1'],
    ['Fn::GetAtt with a list', { 'Fn::GetAtt': ['Table', 'Arn'] }, 'arn:table'],
    ['Fn::GetAtt with a text', { 'Fn::GetAtt': 'Table.Nested.Part' }, 'p'],
    [
      'Fn::Sub',
      { 'Fn::Sub': '${Stage}/${Table}/${Table.Arn}/${!Kept}' },
      'test/table-1/arn:table/${Kept}',
    ],
    [
      'Fn::Sub with variables',
      { 'Fn::Sub': ['${Mine}-${Stage}', { Mine: { Ref: 'Table' } }] },
      'table-1-test',
    ],
    ['Fn::Join', { 'Fn::Join': [':', ['a', { Ref: 'Stage' }, 1]] }, 'a:test:1'],
    ['Fn::Select', { 'Fn::Select': ['1', ['a', 'b']] }, 'b'],
    [
      'Fn::Split',
      { 'Fn::Select': [1, { 'Fn::Split': [':', { 'Fn::GetAtt': ['Table', 'Arn'] }] }] },
      'table',
    ],
    ['Fn::If that holds', { 'Fn::If': ['Yes', 'a', { Ref: 'Unknown' }] }, 'a'],
    ['Fn::If that does not hold', { 'Fn::If': ['No', { Ref: 'Unknown' }, 'b'] }, 'b'],
    ['Fn::FindInMap', { 'Fn::FindInMap': ['Sizes', { Ref: 'Stage' }, 'memory'] }, 256],
    ['values deep inside', { a: [{ b: { Ref: 'Stage' } }] }, { a: [{ b: 'test' }] }],
  ])('resolves %s', (_name, value, expected) => {
    expect(resolve(value)).toEqual(expected);
  });

  it('removes what is AWS::NoValue', () => {
    const none = { Ref: 'AWS::NoValue' };
    expect(resolve({ a: none, b: [1, none, 2], c: { 'Fn::If': ['No', 1, none] } })).toEqual({
      b: [1, 2],
    });
  });

  it('leaves the condition of a policy statement alone', () => {
    const statement = { Condition: { StringEquals: { 'aws:x': 'y' } } };
    expect(resolve(statement)).toEqual(statement);
  });

  it.each<[TemplateValue, string]>([
    [{ Ref: 'Nobody' }, 'Here: "Nobody" is no parameter with a value and no resource'],
    [
      { 'Fn::GetAtt': ['Table', 'StreamArn'] },
      'Table.StreamArn is not known locally, known attributes: Arn',
    ],
    [{ 'Fn::GetAtt': ['Nobody', 'Arn'] }, 'the template creates no "Nobody"'],
    [
      { a: { 'Fn::ImportValue': 'x' } },
      'Here.a: Fn::ImportValue is not supported locally; use Ref',
    ],
    [{ 'Fn::Select': [2, ['a']] }, 'expected [index, list that has this index]'],
    [{ 'Fn::FindInMap': ['Sizes', 'prod', 'memory'] }, 'expected [mapping, key, key]'],
    [{ 'Fn::If': ['Unknown', 1, 2] }, 'expected [known condition, then, else]'],
    [{ 'Fn::Sub': '${Nobody}' }, '"Nobody" is no parameter'],
    [{ 'Fn::Sub': 7 }, 'expected a text or [text, variables]'],
  ])('refuses %j', (value, message) => {
    expect(() => resolve(value)).toThrow(message);
  });
});

describe('conditions', () => {
  const evaluate = (conditions: Record<string, TemplateValue>): ReadonlyMap<string, boolean> =>
    evaluateConditions(conditions, scope);

  it('combine each other in any order of the file', () => {
    const values = evaluate({
      Both: { 'Fn::And': [{ Condition: 'IsTest' }, { 'Fn::Not': [{ Condition: 'IsProd' }] }] },
      Either: { 'Fn::Or': [{ Condition: 'IsProd' }, { Condition: 'IsTest' }] },
      IsTest: { 'Fn::Equals': [{ Ref: 'Stage' }, 'test'] },
      IsProd: { 'Fn::Equals': [{ Ref: 'Stage' }, 'prod'] },
    });
    expect(Object.fromEntries(values)).toEqual({
      Both: true,
      Either: true,
      IsTest: true,
      IsProd: false,
    });
  });

  it.each<[Record<string, TemplateValue>, string]>([
    [{ A: { Condition: 'B' }, B: { Condition: 'A' } }, 'condition "A" refers to itself'],
    [{ A: { Condition: 'Missing' } }, 'condition "Missing" is not in the template'],
    [{ A: true }, 'condition "A" has true, expected Condition, Fn::And'],
  ])('refuse %j', (conditions, message) => {
    expect(() => evaluate(conditions)).toThrow(message);
  });
});

describe('parameters', () => {
  const template = parseTemplate('Orders', {
    Parameters: {
      Stage: { Type: 'String', Default: 'test' },
      Zones: { Type: 'CommaDelimitedList', Default: 'a,b' },
      BootstrapVersion: { Type: 'AWS::SSM::Parameter::Value<String>', Default: '/cdk/version' },
    },
  });

  it('have their defaults, or the values given', () => {
    expect(parameterValues(template, place, {}).get('Stage')).toBe('test');
    expect(parameterValues(template, place, { Stage: 'x' }).get('Stage')).toBe('x');
    expect(parameterValues(template, place, {}).get('Zones')).toEqual(['a', 'b']);
  });

  it('of the parameter store have none, which only matters to a Ref', () => {
    expect(parameterValues(template, place, {}).has('BootstrapVersion')).toBe(false);
  });

  it('are refused when they have no value or are unknown', () => {
    const without = parseTemplate('Orders', { Parameters: { Stage: { Type: 'String' } } });
    expect(() => parameterValues(without, place, { Stag: 'x' })).toThrow(
      'parameter "Stag" is given, but the template Orders has none\nparameter "Stage" has no default',
    );
  });

  it('know the stack itself', () => {
    const values = parameterValues(template, place, {});
    expect(values.get('AWS::StackName')).toBe('Orders');
    expect(values.get('AWS::AccountId')).toBe('000000000000');
    expect(values.get('AWS::Partition')).toBe('aws');
  });
});

describe('the order of resources', () => {
  const order = (resources: Record<string, TemplateValue>): string[] => {
    const template = parseTemplate('Orders', { Resources: resources });
    return orderResources(template, scope.conditions).map(({ logicalId }) => logicalId);
  };
  const plain = { Type: 'T' };

  it('follows DependsOn, Ref, Fn::GetAtt and Fn::Sub, else the file', () => {
    expect(
      order({
        A: { Type: 'T', Properties: { X: [{ Ref: 'E' }] } },
        B: { Type: 'T', DependsOn: 'D' },
        C: {
          Type: 'T',
          Properties: { X: { 'Fn::Sub': ['${F.Arn}${V}', { V: { 'Fn::GetAtt': 'G.Arn' } }] } },
        },
        D: plain,
        E: { Type: 'T', DependsOn: ['D'] },
        F: plain,
        G: plain,
      }),
    ).toEqual(['D', 'E', 'A', 'B', 'F', 'G', 'C']);
  });

  it('leaves out what its condition excludes, and does not follow the branch that is not taken', () => {
    expect(
      order({
        A: { Type: 'T', Properties: { X: { 'Fn::If': ['No', { Ref: 'B' }, { Ref: 'C' }] } } },
        B: { Type: 'T', Condition: 'No' },
        C: { Type: 'T', Condition: 'Yes' },
      }),
    ).toEqual(['C', 'A']);
  });

  it('refuses a cycle and names it', () => {
    const cycle = {
      A: { Type: 'T', DependsOn: 'B' },
      B: { Type: 'T', Properties: { X: { Ref: 'C' } } },
      C: { Type: 'T', DependsOn: 'B' },
    };
    expect(() => order(cycle)).toThrow('resources depend on each other: B -> C -> B');
  });

  it('refuses a dependency that the template does not have', () => {
    expect(() => order({ A: { Type: 'T', DependsOn: 'Nobody' } })).toThrow(
      'T A: DependsOn names "Nobody"',
    );
  });
});

describe('a template file', () => {
  it('gives the stack its name', async () => {
    const file = path.join(tempDirectory(), 'Orders.template.json');
    writeFileSync(file, '{"Resources":{}}');
    expect((await readTemplate(file)).stackName).toBe('Orders');
  });

  it('must exist and be JSON', async () => {
    const file = path.join(tempDirectory(), 'Orders.template.json');
    await expect(readTemplate(file)).rejects.toThrow('run `cdk synth` first');
    writeFileSync(file, 'Resources:');
    await expect(readTemplate(file)).rejects.toThrow('is not JSON');
  });

  it('may have no sections and attributes that are unknown here', () => {
    expect(() =>
      parseTemplate('Orders', {
        Transform: 'AWS::Serverless-2016-10-31',
        Resources: { A: { Type: 'T', CreationPolicy: {} }, B: {} },
      }),
    ).toThrow(
      'template Orders: section "Transform" is not supported locally; remove it\n' +
        'T A: attribute "CreationPolicy" is not supported locally; remove it\n' +
        'resource B is {}, expected an object with a Type',
    );
  });
});
