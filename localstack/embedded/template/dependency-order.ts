import { placeholderPattern, splitAttribute } from './intrinsics.ts';
import { TemplateError } from './template-error.ts';
import type { Template, TemplateResource } from './template.ts';
import { asIntrinsic, asText, isTemplateObject, type TemplateValue } from './template-value.ts';

/**
 * The resources whose condition holds, each one after all that it names by DependsOn, Ref, Fn::GetAtt or Fn::Sub. What is
 * independent keeps the order of the file.
 */
export function orderResources(
  template: Template,
  conditions: ReadonlyMap<string, boolean>,
): TemplateResource[] {
  const included = new Map(
    [...template.resources].filter(
      ([, resource]) => resource.condition === undefined || conditions.get(resource.condition),
    ),
  );
  const ordered: TemplateResource[] = [];
  const state = new Map<string, 'open' | 'done'>();

  const visit = (resource: TemplateResource, path: readonly string[]): void => {
    if (state.get(resource.logicalId) === 'done') return;
    if (state.get(resource.logicalId) === 'open') {
      const cycle = [...path.slice(path.indexOf(resource.logicalId)), resource.logicalId];
      throw new TemplateError([
        `resources depend on each other: ${cycle.join(' -> ')}; break the cycle`,
      ]);
    }
    state.set(resource.logicalId, 'open');
    for (const name of dependenciesOf(resource, template, conditions)) {
      const dependency = included.get(name);
      if (dependency !== undefined) visit(dependency, [...path, resource.logicalId]);
    }
    state.set(resource.logicalId, 'done');
    ordered.push(resource);
  };

  for (const resource of included.values()) visit(resource, []);
  return ordered;
}

function dependenciesOf(
  resource: TemplateResource,
  template: Template,
  conditions: ReadonlyMap<string, boolean>,
): Set<string> {
  const missing = resource.dependsOn.filter((name) => !template.resources.has(name));
  if (missing.length > 0) {
    throw new TemplateError(
      missing.map(
        (name) =>
          `${resource.type} ${resource.logicalId}: DependsOn names "${name}", which the template does not have`,
      ),
    );
  }
  const names = new Set(resource.dependsOn);
  collectReferences(resource.properties, conditions, names);
  return names;
}

function collectReferences(
  value: TemplateValue | undefined,
  conditions: ReadonlyMap<string, boolean>,
  names: Set<string>,
): void {
  const intrinsic = asIntrinsic(value);
  const list = Array.isArray(intrinsic?.argument) ? intrinsic.argument : [];
  if (intrinsic?.name === 'Ref') {
    names.add(asText(intrinsic.argument, 'Ref'));
  } else if (intrinsic?.name === 'Fn::GetAtt') {
    const [logicalId] = splitAttribute(intrinsic.argument);
    if (logicalId !== undefined) names.add(logicalId);
  } else if (intrinsic?.name === 'Fn::If') {
    // Only the branch that counts: the other one may name a resource that this stack does not have.
    const branch = conditions.get(asText(list[0], 'Fn::If')) ? list[1] : list[2];
    collectReferences(branch, conditions, names);
  } else if (intrinsic?.name === 'Fn::Sub') {
    const [text, variables] = list.length > 0 ? list : [intrinsic.argument];
    for (const match of asText(text, 'Fn::Sub').matchAll(placeholderPattern)) {
      names.add((match[1] ?? '').split('.', 1)[0] ?? '');
    }
    collectReferences(variables, conditions, names);
  } else if (Array.isArray(value)) {
    for (const item of value) collectReferences(item, conditions, names);
  } else if (isTemplateObject(value)) {
    for (const item of Object.values(value)) collectReferences(item, conditions, names);
  }
}
