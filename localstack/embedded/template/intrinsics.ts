import { showValue, TemplateError } from './template-error.ts';
import {
  asIntrinsic,
  asText,
  isTemplateObject,
  type TemplateObject,
  type TemplateValue,
} from './template-value.ts';

/** What a created resource answers to Ref and Fn::GetAtt. */
export interface ResourceReference {
  readonly physicalId: string;
  readonly attributes: Readonly<Record<string, TemplateValue>>;
}

/** All that an intrinsic function can look up. */
export interface ResolutionScope {
  /** Parameters and pseudo parameters by name. */
  readonly parameters: ReadonlyMap<string, TemplateValue>;
  readonly mappings: TemplateObject;
  readonly conditions: ReadonlyMap<string, boolean>;
  /** Resources that exist by now. */
  readonly resources: ReadonlyMap<string, ResourceReference>;
}

/**
 * The value with its intrinsic functions replaced; undefined for AWS::NoValue, which removes the property or list
 * element that holds it. `where` names the place in errors.
 */
export function resolveValue(
  value: TemplateValue,
  scope: ResolutionScope,
  where: string,
): TemplateValue | undefined {
  if (Array.isArray(value)) {
    return value
      .map((item, index) => resolveValue(item, scope, `${where}[${index}]`))
      .filter((item) => item !== undefined);
  }
  if (!isTemplateObject(value)) return value;
  const intrinsic = asIntrinsic(value);
  if (intrinsic !== undefined) return applyIntrinsic(intrinsic, scope, where);
  const resolved: TemplateObject = {};
  for (const [name, item] of Object.entries(value)) {
    const result = resolveValue(item, scope, `${where}.${name}`);
    if (result !== undefined) resolved[name] = result;
  }
  return resolved;
}

function applyIntrinsic(
  { name, argument }: { name: string; argument: TemplateValue },
  scope: ResolutionScope,
  where: string,
): TemplateValue | undefined {
  const fail = (expected: string): TemplateError =>
    new TemplateError([`${where}: ${name} has ${showValue(argument)}, expected ${expected}`]);
  const resolved = (item: TemplateValue | undefined): TemplateValue | undefined =>
    item === undefined ? undefined : resolveValue(item, scope, where);
  const list = Array.isArray(argument) ? argument : [];

  switch (name) {
    case 'Ref':
      if (typeof argument !== 'string') throw fail('a name');
      if (argument === 'AWS::NoValue') return undefined;
      return lookUpName(argument, scope, where);
    case 'Fn::GetAtt': {
      const [logicalId, attribute] = splitAttribute(argument);
      if (logicalId === undefined || attribute === undefined) throw fail('[resource, attribute]');
      return lookUpAttribute(logicalId, attribute, scope, where);
    }
    case 'Fn::Sub':
      return substitute(argument, scope, where);
    case 'Fn::Join': {
      const [delimiter, items] = list;
      const texts = resolved(items);
      if (typeof delimiter !== 'string' || !Array.isArray(texts)) throw fail('[delimiter, list]');
      return texts.map((text) => asText(text, where)).join(delimiter);
    }
    case 'Fn::Select': {
      const index = Number(resolved(list[0]));
      const items = resolved(list[1]);
      const item = Array.isArray(items) ? items[index] : undefined;
      if (item === undefined) throw fail('[index, list that has this index]');
      return item;
    }
    case 'Fn::Split': {
      const [delimiter, text] = [list[0], resolved(list[1])];
      if (typeof delimiter !== 'string' || typeof text !== 'string')
        throw fail('[delimiter, text]');
      return text.split(delimiter);
    }
    case 'Fn::If': {
      const [conditionName, whenTrue, whenFalse] = list;
      const condition = scope.conditions.get(asText(conditionName, where));
      if (condition === undefined || list.length !== 3) throw fail('[known condition, then, else]');
      return resolved(condition ? whenTrue : whenFalse);
    }
    case 'Fn::FindInMap': {
      const [mapName, topKey, secondKey] = list.map((item) => asText(resolved(item), where));
      const map = scope.mappings[mapName ?? ''];
      const row = isTemplateObject(map) ? map[topKey ?? ''] : undefined;
      const found = isTemplateObject(row) ? row[secondKey ?? ''] : undefined;
      if (found === undefined) throw fail('[mapping, key, key] that is in the template');
      return found;
    }
    default:
      throw new TemplateError([
        `${where}: ${name} is not supported locally; use Ref, Fn::GetAtt, Fn::Sub, Fn::Join, Fn::Select, Fn::Split, Fn::If or Fn::FindInMap`,
      ]);
  }
}

/** `["Id", "Attr"]` and `"Id.Attr"` are the same. */
export function splitAttribute(argument: TemplateValue): [string | undefined, string | undefined] {
  if (typeof argument === 'string') {
    const dot = argument.indexOf('.');
    return dot === -1 ? [undefined, undefined] : [argument.slice(0, dot), argument.slice(dot + 1)];
  }
  const [logicalId, attribute] = Array.isArray(argument) ? argument : [];
  return typeof logicalId === 'string' && typeof attribute === 'string'
    ? [logicalId, attribute]
    : [undefined, undefined];
}

/** A place holder of Fn::Sub; `${!Literal}` is not one. */
export const placeholderPattern = /\$\{([^!}][^}]*)\}/g;

function substitute(argument: TemplateValue, scope: ResolutionScope, where: string): string {
  const [text, variables]: (TemplateValue | undefined)[] = Array.isArray(argument)
    ? argument
    : [argument, {}];
  if (typeof text !== 'string' || !isTemplateObject(variables)) {
    throw new TemplateError([
      `${where}: Fn::Sub has ${showValue(argument)}, expected a text or [text, variables]`,
    ]);
  }
  const replaced = text.replace(placeholderPattern, (_match, name: string) => {
    const variable = variables[name];
    if (variable !== undefined) return asText(resolveValue(variable, scope, where), where);
    const [logicalId, attribute] = splitAttribute(name);
    return logicalId === undefined || attribute === undefined
      ? asText(lookUpName(name, scope, where), where)
      : asText(lookUpAttribute(logicalId, attribute, scope, where), where);
  });
  return replaced.replaceAll('${!', '${');
}

function lookUpName(name: string, scope: ResolutionScope, where: string): TemplateValue {
  const value = scope.parameters.get(name) ?? scope.resources.get(name)?.physicalId;
  if (value !== undefined) return value;
  throw new TemplateError([
    `${where}: "${name}" is no parameter with a value and no resource that is created; correct the reference`,
  ]);
}

function lookUpAttribute(
  logicalId: string,
  attribute: string,
  scope: ResolutionScope,
  where: string,
): TemplateValue {
  const resource = scope.resources.get(logicalId);
  const value = resource?.attributes[attribute];
  if (value !== undefined) return value;
  const known = resource === undefined ? [] : Object.keys(resource.attributes);
  throw new TemplateError([
    `${where}: ${logicalId}.${attribute} is not known locally, ` +
      (resource === undefined
        ? `the template creates no "${logicalId}"`
        : `known attributes: ${known.join(', ') || '(none)'}`),
  ]);
}
