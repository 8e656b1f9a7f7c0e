import { readFile } from 'node:fs/promises';
import path from 'node:path';

import { showValue, TemplateError } from './template-error.ts';
import { isTemplateObject, type TemplateObject, type TemplateValue } from './template-value.ts';

export interface TemplateParameter {
  readonly type: string;
  readonly defaultValue: TemplateValue | undefined;
}

export interface TemplateResource {
  readonly logicalId: string;
  readonly type: string;
  readonly properties: TemplateObject;
  readonly dependsOn: readonly string[];
  readonly condition: string | undefined;
}

export interface TemplateOutput {
  readonly value: TemplateValue;
  readonly condition: string | undefined;
}

/** A CloudFormation template as written, nothing resolved. */
export interface Template {
  readonly stackName: string;
  readonly parameters: Readonly<Record<string, TemplateParameter>>;
  readonly mappings: TemplateObject;
  readonly conditions: TemplateObject;
  /** In the order of the file. */
  readonly resources: ReadonlyMap<string, TemplateResource>;
  readonly outputs: Readonly<Record<string, TemplateOutput>>;
}

const sections = new Set([
  'AWSTemplateFormatVersion',
  'Conditions',
  'Description',
  'Mappings',
  'Metadata',
  'Outputs',
  'Parameters',
  'Resources',
  // CDK writes one rule: the version of the account's bootstrap stack. There is none here.
  'Rules',
]);

const resourceAttributes = new Set([
  'Condition',
  'DependsOn',
  'Metadata',
  'Properties',
  'Type',
  // Both say what happens at a deletion or a replacement: this stack ends with its process.
  'DeletionPolicy',
  'UpdateReplacePolicy',
]);

/** Reads `<Stack>.template.json`; the stack's name is the file's. */
export async function readTemplate(templateFile: string): Promise<Template> {
  const stackName = path.basename(templateFile).replace(/(\.template)?\.json$/, '');
  let text: string;
  try {
    text = await readFile(templateFile, 'utf8');
  } catch (error) {
    throw new Error(`cannot read the template "${templateFile}"; run \`cdk synth\` first`, {
      cause: error,
    });
  }
  let document: TemplateValue;
  try {
    document = JSON.parse(text) as TemplateValue;
  } catch (error) {
    throw new TemplateError([
      `"${templateFile}" is not JSON (${String(error)}); expected what \`cdk synth\` writes`,
    ]);
  }
  return parseTemplate(stackName, document);
}

/** Checks the outline of a template: sections, attributes, their kinds. Properties are checked by resource type. */
export function parseTemplate(stackName: string, document: TemplateValue): Template {
  if (!isTemplateObject(document)) {
    throw new TemplateError([
      `template ${stackName} is ${showValue(document)}, expected an object`,
    ]);
  }
  const problems = Object.keys(document)
    .filter((name) => !sections.has(name))
    .map((name) => `template ${stackName}: section "${name}" is not supported locally; remove it`);
  const resources = new Map<string, TemplateResource>();
  for (const [logicalId, value] of Object.entries(objectAt(document, 'Resources'))) {
    const resource = parseResource(logicalId, value, problems);
    if (resource !== undefined) resources.set(logicalId, resource);
  }
  if (problems.length > 0) throw new TemplateError(problems);
  return {
    stackName,
    parameters: mapObjects(objectAt(document, 'Parameters'), (parameter) => ({
      type: typeof parameter['Type'] === 'string' ? parameter['Type'] : 'String',
      defaultValue: parameter['Default'],
    })),
    mappings: objectAt(document, 'Mappings'),
    conditions: objectAt(document, 'Conditions'),
    resources,
    outputs: mapObjects(objectAt(document, 'Outputs'), (output) => ({
      value: output['Value'] ?? null,
      condition: typeof output['Condition'] === 'string' ? output['Condition'] : undefined,
    })),
  };
}

function parseResource(
  logicalId: string,
  value: TemplateValue,
  problems: string[],
): TemplateResource | undefined {
  const type = isTemplateObject(value) ? value['Type'] : undefined;
  if (!isTemplateObject(value) || typeof type !== 'string') {
    problems.push(`resource ${logicalId} is ${showValue(value)}, expected an object with a Type`);
    return undefined;
  }
  for (const attribute of Object.keys(value)) {
    if (resourceAttributes.has(attribute)) continue;
    problems.push(
      `${type} ${logicalId}: attribute "${attribute}" is not supported locally; remove it`,
    );
  }
  const dependsOn = value['DependsOn'] ?? [];
  const condition = value['Condition'];
  return {
    logicalId,
    type,
    properties: objectAt(value, 'Properties'),
    dependsOn: (Array.isArray(dependsOn) ? dependsOn : [dependsOn]).map(String),
    condition: typeof condition === 'string' ? condition : undefined,
  };
}

function objectAt(parent: TemplateObject, name: string): TemplateObject {
  const value = parent[name];
  if (value === undefined) return {};
  if (isTemplateObject(value)) return value;
  throw new TemplateError([`"${name}" is ${showValue(value)}, expected an object`]);
}

function mapObjects<Result>(
  parent: TemplateObject,
  convert: (value: TemplateObject) => Result,
): Record<string, Result> {
  return Object.fromEntries(
    Object.keys(parent).map((name) => [name, convert(objectAt(parent, name))]),
  );
}
