import {
  asIntrinsic,
  isTemplateObject,
  type TemplateObject,
  type TemplateValue,
} from './template-value.ts';

/** What the local AWS does with one property of a resource type. */
export type PropertyRule =
  /** Read by the code that creates the resource. */
  | { readonly kind: 'used' }
  /** Known, and without effect here; `because` says why that is right. */
  | { readonly kind: 'inert'; readonly because: string }
  /** An object, or a list of objects, whose own properties have rules. */
  | { readonly kind: 'nested'; readonly properties: PropertyTable };

/** All properties that a resource type may have here. What is not in the table is refused. */
export type PropertyTable = Readonly<Record<string, PropertyRule>>;

export const used: PropertyRule = { kind: 'used' };

export function inert(because: string): PropertyRule {
  return { kind: 'inert', because };
}

export function nested(properties: PropertyTable): PropertyRule {
  return { kind: 'nested', properties };
}

/**
 * One line for each property that the table does not know. Intrinsic functions in the place of an object are not looked
 * into: check again when they are resolved.
 */
export function findUnknownProperties(
  resource: { type: string; logicalId: string },
  properties: TemplateObject,
  table: PropertyTable,
): string[] {
  const problems: string[] = [];
  const check = (value: TemplateValue | undefined, rules: PropertyTable, path: string): void => {
    if (Array.isArray(value)) {
      value.forEach((item, index) => check(item, rules, `${path}[${index}]`));
      return;
    }
    if (!isTemplateObject(value) || asIntrinsic(value) !== undefined) return;
    for (const [name, item] of Object.entries(value)) {
      const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
      const itemPath = path === '' ? name : `${path}.${name}`;
      if (rule === undefined) {
        problems.push(
          `${resource.type} ${resource.logicalId}: property "${itemPath}" is not supported locally ` +
            `(known here: ${Object.keys(rules).join(', ') || 'none'}); remove it or teach it to the local AWS`,
        );
      } else if (rule.kind === 'nested') {
        check(item, rule.properties, itemPath);
      }
    }
  };
  check(properties, table, '');
  return problems;
}
