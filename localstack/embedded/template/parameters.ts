import { TemplateError } from './template-error.ts';
import type { Template } from './template.ts';
import { asText, type TemplateValue } from './template-value.ts';

/** Where a stack pretends to live. */
export interface StackPlace {
  readonly stackName: string;
  readonly region: string;
  /** Twelve digits. */
  readonly accountId: string;
  readonly stackId: string;
}

/**
 * Values of parameters and pseudo parameters by name. A parameter that is looked up in the account's parameter store has no
 * value here: a Ref to it is an error, its mere presence is not (CDK always writes one).
 */
export function parameterValues(
  template: Template,
  place: StackPlace,
  overrides: Readonly<Record<string, string>>,
): ReadonlyMap<string, TemplateValue> {
  const values = new Map<string, TemplateValue>([
    ['AWS::AccountId', place.accountId],
    ['AWS::NotificationARNs', []],
    ['AWS::Partition', 'aws'],
    ['AWS::Region', place.region],
    ['AWS::StackId', place.stackId],
    ['AWS::StackName', place.stackName],
    ['AWS::URLSuffix', 'amazonaws.com'],
  ]);
  const problems = Object.keys(overrides)
    .filter((name) => template.parameters[name] === undefined)
    .map((name) => `parameter "${name}" is given, but the template ${place.stackName} has none`);
  for (const [name, parameter] of Object.entries(template.parameters)) {
    const value = overrides[name] ?? parameter.defaultValue;
    if (overrides[name] === undefined && parameter.type.startsWith('AWS::SSM::')) continue;
    if (value === undefined) {
      problems.push(`parameter "${name}" has no default; give it a value when you start`);
    } else {
      values.set(
        name,
        isListType(parameter.type) ? asText(value, `parameter ${name}`).split(',') : value,
      );
    }
  }
  if (problems.length > 0) throw new TemplateError(problems);
  return values;
}

function isListType(type: string): boolean {
  return type === 'CommaDelimitedList' || type.startsWith('List<');
}
