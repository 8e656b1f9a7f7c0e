import { resolveValue, type ResolutionScope } from './intrinsics.ts';
import { showValue, TemplateError } from './template-error.ts';
import { asIntrinsic, asText, type TemplateObject, type TemplateValue } from './template-value.ts';

/**
 * Evaluates every condition of a template. Conditions may use parameters, pseudo parameters, mappings and each other,
 * never resources.
 */
export function evaluateConditions(
  conditions: TemplateObject,
  scope: Omit<ResolutionScope, 'conditions'>,
): ReadonlyMap<string, boolean> {
  const values = new Map<string, boolean>();
  const inProgress = new Set<string>();

  const evaluateNamed = (name: string): boolean => {
    const known = values.get(name);
    if (known !== undefined) return known;
    const expression = conditions[name];
    if (expression === undefined) {
      throw new TemplateError([`condition "${name}" is not in the template's Conditions`]);
    }
    if (inProgress.has(name)) {
      throw new TemplateError([`condition "${name}" refers to itself; break the cycle`]);
    }
    inProgress.add(name);
    const value = evaluate(expression, name);
    inProgress.delete(name);
    values.set(name, value);
    return value;
  };

  const evaluate = (expression: TemplateValue, name: string): boolean => {
    const intrinsic = asIntrinsic(expression);
    const operands = Array.isArray(intrinsic?.argument) ? intrinsic.argument : [];
    switch (intrinsic?.name) {
      case 'Condition':
        return evaluateNamed(asText(intrinsic.argument, `condition ${name}`));
      case 'Fn::And':
        return operands.every((operand) => evaluate(operand, name));
      case 'Fn::Or':
        return operands.some((operand) => evaluate(operand, name));
      case 'Fn::Not':
        return !operands.every((operand) => evaluate(operand, name));
      case 'Fn::Equals': {
        const where = `condition ${name}`;
        const [left, right] = operands.map((operand) =>
          asText(resolveValue(operand, { ...scope, conditions: values }, where), where),
        );
        return left === right;
      }
      default:
        throw new TemplateError([
          `condition "${name}" has ${showValue(expression)}, expected Condition, Fn::And, Fn::Or, Fn::Not or Fn::Equals`,
        ]);
    }
  };

  for (const name of Object.keys(conditions)) evaluateNamed(name);
  return values;
}
