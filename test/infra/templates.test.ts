import { describe, expect, it } from 'vitest';
import { checkTemplate } from './check-template.ts';
import { everyTemplate } from './every-template.ts';

// The first check compiles the rules and schemas.
const slowly = { timeout: 60_000 };

describe('CloudFormation has nothing against', slowly, () => {
  it.each(everyTemplate)('%s', (_, template) => {
    expect(Object.keys(template.Resources).length).toBeGreaterThan(10);
    expect(checkTemplate(template)).toEqual([]);
  });
});

const [, demonstration] = everyTemplate[0]!;

interface BrokenResource {
  Type: string;
  Properties: Record<string, unknown>;
  DependsOn?: unknown;
  Condition?: string;
}

/** A copy of the demonstration, which a test may change. */
interface Broken {
  readonly Resources: Record<string, BrokenResource>;
  readonly Outputs: Record<string, object>;
  Parameters?: object;
  Conditions?: object;
  Mappings?: object;
}

const FUNCTION = 'JobOperatorflightdelaysFunctionC155957C';
const ROLE = 'JobOperatorflightdelaysRole';

/** The properties of the resource whose logical id begins so, to be changed. */
function propertiesOf({ Resources }: Broken, prefix: string): Record<string, unknown> {
  const found = Object.keys(Resources).find((id) => id.startsWith(prefix));
  expect(found, prefix).toBeDefined();
  return Resources[found!]!.Properties;
}

/** Sets properties of the operator's function. */
const set =
  (changes: Record<string, unknown>) =>
  (template: Broken): void => {
    Object.assign(propertiesOf(template, FUNCTION), changes);
  };

const BREAKAGES: readonly (readonly [string, (template: Broken) => void, RegExp])[] = [
  [
    'a resource type that there is not',
    ({ Resources }) => {
      Resources['More'] = { Type: 'AWS::Lambda::Funktion', Properties: {} };
    },
    /^F3006 More: Unknown resource type/,
  ],
  [
    'a property that there is not',
    set({ MemorySise: 512 }),
    /^F3002 .*MemorySise: Additional properties/,
  ],
  [
    'a property that there is not, further down',
    set({ Environment: { Vars: {} } }),
    /^F3002 .*Environment.Vars: Additional/,
  ],
  ['text for a number', set({ MemorySize: 'much' }), /^F3012 .*'much' is not of type 'integer'/],
  ['text for a list', set({ Architectures: 'arm64' }), /^F3012 .*'arm64' is not of type 'array'/],
  ['no role', set({ Role: undefined }), /^F3003 .*'Role' is a required property/],
  ['a value of no enumeration', set({ Architectures: ['m68k'] }), /^W3030 .*'m68k' is not one of/],
  ['a runtime that there is not', set({ Runtime: 'nodejs99.x' }), /^W3030 .*'nodejs99.x'/],
  ['text against a pattern', set({ FunctionName: 'a b' }), /^F3031 .*does not match pattern/],
  ['a number below its limit', set({ MemorySize: 64 }), /^F3034 .*less than the minimum of 128/],
  ['a time above its limit', set({ Timeout: 901 }), /^E3717 .*901 exceeds maximum 900/],
  ['a Ref to nothing', set({ Handler: { Ref: 'Nothing' } }), /^F1020 .*Handler: 'Nothing' is not/],
  [
    'a GetAtt of nothing',
    set({ Role: { 'Fn::GetAtt': ['Nothing', 'Arn'] } }),
    /^F1020 .*non-existent resource 'Nothing'/,
  ],
  [
    'a GetAtt of an attribute that the type has not',
    set({ Role: { 'Fn::GetAtt': ['JobControlEED9BF57', 'Arm'] } }),
    /^E9004 .*Role: 'Arm' is not one of \['Arn', 'StreamArn'\]/,
  ],
  [
    'a Sub of nothing',
    set({ Description: { 'Fn::Sub': '${Nothing}' } }),
    /^F1018 .*'\$\{Nothing\}' does not reference/,
  ],
  [
    'a dependency on nothing',
    ({ Resources }) => {
      Resources[FUNCTION]!.DependsOn = ['Nothing'];
    },
    /^E3005 .*DependsOn target 'Nothing'/,
  ],
  [
    'a circle',
    ({ Resources }) => {
      const role = Object.keys(Resources).find((id) => id.startsWith(ROLE))!;
      Resources[role]!.DependsOn = [FUNCTION];
    },
    /^F3004 .*Circular Dependencies/,
  ],
  [
    'a parameter that nobody reads',
    (template) => {
      template.Parameters = { Stage: { Type: 'String' } };
    },
    /^W2001 -: .*'Stage' is not referenced/,
  ],
  [
    'a condition that nothing has',
    (template) => {
      template.Conditions = { Here: { 'Fn::Equals': [{ Ref: 'AWS::Region' }, 'eu-central-1'] } };
    },
    /^W8001 -: .*'Here' is not used/,
  ],
  [
    'a condition that there is not',
    ({ Resources }) => {
      Resources[FUNCTION]!.Condition = 'Here';
    },
    /^E8002 .*'Here' referenced by resource/,
  ],
  [
    'a mapping that nobody reads',
    (template) => {
      template.Mappings = { Sizes: { test: { memory: '128' } } };
    },
    /^W7001 -: .*'Sizes' is not referenced/,
  ],
  [
    'too many resources',
    ({ Resources }) => {
      for (let number = 0; number < 500; number += 1) {
        Resources[`More${number}`] = { Type: 'AWS::SQS::Queue', Properties: {} };
      }
    },
    /^F0007 -: Template has \d+ resources, maximum is 500/,
  ],
  [
    'more than a megabyte',
    set({ Description: 'x'.repeat(1024 * 1024) }),
    /^size -: the template has \d+ bytes/,
  ],
  [
    'an output without a value',
    ({ Outputs }) => {
      Outputs['More'] = {};
    },
    /^output More: it has no value/,
  ],
  [
    'an output of a name that is none',
    ({ Outputs }) => {
      Outputs['a-b'] = { Value: 'x' };
    },
    /^F6004 -: .*'a-b' must be alphanumeric/,
  ],
  [
    'an output that is a list',
    ({ Outputs }) => {
      Outputs['More'] = { Value: ['x'] };
    },
    /^F6101 -: .*'More' value must be a string/,
  ],
  [
    'an output of nothing',
    ({ Outputs }) => {
      Outputs['More'] = { Value: { Ref: 'Nothing' } };
    },
    /^F6101 -: .*Ref 'Nothing' does not reference/,
  ],
  [
    'a workflow that begins nowhere',
    (template) => {
      const definition = { StartAt: 'Nowhere', States: { A: { Type: 'Succeed' } } };
      propertiesOf(template, 'JobSavepointsMachine')['DefinitionString'] =
        JSON.stringify(definition);
    },
    /^E3601 .*StartAt 'Nowhere' does not reference/,
  ],
  [
    'a statement of a policy that is none',
    (template) => {
      const { PolicyDocument } = propertiesOf(template, `${ROLE}DefaultPolicy`) as {
        PolicyDocument: { Statement: object[] };
      };
      PolicyDocument.Statement.push({ Effekt: 'Allow', Action: 's3:GetObject', Resource: '*' });
    },
    /^E3510 .*Effekt/,
  ],
  [
    'a key of a table that is no attribute',
    (template) => {
      propertiesOf(template, 'JobControl')['KeySchema'] = [
        { AttributeName: 'nothing', KeyType: 'HASH' },
      ];
    },
    /^E3039 .*missing definitions: \[nothing\]/,
  ],
];

describe('CloudFormation has something against', slowly, () => {
  it.each(BREAKAGES)('%s', (_, breakIt, finding) => {
    const broken = structuredClone(demonstration) as unknown as Broken;
    breakIt(broken);
    expect(checkTemplate(broken)).toContainEqual(expect.stringMatching(finding));
  });
});
