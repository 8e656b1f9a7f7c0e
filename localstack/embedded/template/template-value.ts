import { showValue, TemplateError } from './template-error.ts';

/** Anything that may stand in a template, before or after its intrinsic functions were resolved. */
export type TemplateValue = string | number | boolean | null | TemplateValue[] | TemplateObject;

export interface TemplateObject {
  [name: string]: TemplateValue;
}

/** True for a JSON object, false for lists and null. */
export function isTemplateObject(value: TemplateValue | undefined): value is TemplateObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The name and the argument of `{ "Fn::…": … }`, `{ "Ref": … }` or `{ "Condition": … }`; undefined for anything else. */
export function asIntrinsic(
  value: TemplateValue | undefined,
): { name: string; argument: TemplateValue } | undefined {
  if (!isTemplateObject(value)) return undefined;
  const entries = Object.entries(value);
  const [first] = entries;
  if (first === undefined || entries.length !== 1) return undefined;
  const [name, argument] = first;
  // A policy statement has "Condition" with an object; only the text form refers to a condition of the template.
  const isReference = name === 'Ref' || (name === 'Condition' && typeof argument === 'string');
  return isReference || name.startsWith('Fn::') ? { name, argument } : undefined;
}

/** A text, number or boolean as text; lists, objects and nothing are refused. `where` names the place. */
export function asText(value: TemplateValue | undefined, where: string): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
    return String(value);
  }
  throw new TemplateError([`${where}: ${showValue(value)} stands where a text is expected`]);
}
