import { findResourceKind, knownResourceTypes } from './resources/resource-kinds.ts';
import type { StackServices } from './resources/resource-kind.ts';
import { evaluateConditions } from './template/conditions.ts';
import { orderResources } from './template/dependency-order.ts';
import {
  resolveValue,
  type ResolutionScope,
  type ResourceReference,
} from './template/intrinsics.ts';
import { parameterValues, type StackPlace } from './template/parameters.ts';
import { PropertyReader } from './template/property-reader.ts';
import { findUnknownProperties } from './template/property-table.ts';
import { TemplateError } from './template/template-error.ts';
import type { Template, TemplateResource } from './template/template.ts';
import { asText, isTemplateObject, type TemplateObject } from './template/template-value.ts';

/** What is to be created, known before anything is started. */
export interface StackPlan {
  readonly template: Template;
  /** Dependencies first. */
  readonly resources: readonly TemplateResource[];
  readonly scope: Omit<ResolutionScope, 'resources'>;
}

/** A resource that was created. */
export interface StackResource extends ResourceReference {
  readonly type: string;
  /** Resolved; also of resources that have no effect here, such as policies. */
  readonly properties: TemplateObject;
}

export interface Stack {
  readonly resources: ReadonlyMap<string, StackResource>;
  readonly outputs: Readonly<Record<string, string>>;
}

/** Checks all of the template that can be checked without creating anything; throws one error with every problem. */
export function planStack(
  template: Template,
  place: StackPlace,
  parameters: Readonly<Record<string, string>>,
): StackPlan {
  const values = {
    parameters: parameterValues(template, place, parameters),
    mappings: template.mappings,
    resources: new Map<string, never>(),
  };
  const conditions = evaluateConditions(template.conditions, values);
  const resources = orderResources(template, conditions);
  const problems = resources.flatMap((resource) => checkResource(resource, resource.properties));
  if (problems.length > 0) throw new TemplateError(problems);
  return {
    template,
    resources,
    scope: { parameters: values.parameters, mappings: values.mappings, conditions },
  };
}

/** Creates the resources one after another; what `created` has when this throws must be stopped by the caller. */
export async function createStack(plan: StackPlan, services: StackServices): Promise<Stack> {
  const resources = new Map<string, StackResource>();
  const scope: ResolutionScope = { ...plan.scope, resources };
  for (const resource of plan.resources) {
    const { logicalId, type } = resource;
    const place = `${type} ${logicalId}`;
    const resolved = resolveValue(resource.properties, scope, place);
    const properties = isTemplateObject(resolved) ? resolved : {};
    // Once more: what stood behind an intrinsic function is visible only now.
    const problems = checkResource(resource, properties);
    if (problems.length > 0) throw new TemplateError(problems);
    const reference = await kindOf(resource).create(
      { logicalId, type, properties: new PropertyReader(place, properties) },
      services,
    );
    resources.set(logicalId, { ...reference, type, properties });
  }
  return { resources, outputs: resolveOutputs(plan, scope) };
}

function checkResource(resource: TemplateResource, properties: TemplateObject): string[] {
  const kind = findResourceKind(resource.type);
  if (kind === undefined) {
    return [
      `${resource.type} ${resource.logicalId}: this resource type is not supported locally ` +
        `(known here: ${knownResourceTypes().join(', ')}); remove it or teach it to the local AWS`,
    ];
  }
  return kind.properties === 'any'
    ? []
    : findUnknownProperties(resource, properties, kind.properties);
}

function kindOf(resource: TemplateResource): NonNullable<ReturnType<typeof findResourceKind>> {
  const kind = findResourceKind(resource.type);
  if (kind === undefined) throw new Error(`${resource.type} was planned but is not known`);
  return kind;
}

function resolveOutputs(plan: StackPlan, scope: ResolutionScope): Record<string, string> {
  const outputs: Record<string, string> = {};
  for (const [name, { value, condition }] of Object.entries(plan.template.outputs)) {
    if (condition !== undefined && plan.scope.conditions.get(condition) !== true) continue;
    const resolved = resolveValue(value, scope, `output ${name}`);
    if (resolved !== undefined) outputs[name] = asText(resolved, `output ${name}`);
  }
  return outputs;
}
