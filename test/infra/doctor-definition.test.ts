import { expect, it } from 'vitest';
import { createDefinition } from '../../cli/doctor/workflows/definition.ts';
import { readDefinition } from '../../localstack/embedded/step-functions/definition-reader.ts';
import { readWorkflows, stepFunctionArn, type Definition } from './workflow-definition.ts';

/** What a definition uses: fields of states by type, of rules, and of what is inside a Map. */
function featuresOf({ States }: Pick<Definition, 'States'>, inside = ''): string[] {
  return Object.values(States).flatMap((state) =>
    Object.entries(state).flatMap(([field, value]) => {
      const name = `${inside}${state.Type}.${field}`;
      if (field === 'ItemProcessor') return featuresOf(value as Definition, 'Map/');
      if (!Array.isArray(value)) return [value === null ? `${name} null` : name];
      return value.flatMap((rule) => Object.keys(rule as object).map((key) => `${name}.${key}`));
    }),
  );
}

it("the doctor's state machine uses all that the workflows of a job use", () => {
  const definition = createDefinition(stepFunctionArn) as Definition;
  const probed = new Set(featuresOf(definition));
  const { savepoint, restore } = readWorkflows();
  const used = new Set([...featuresOf(savepoint), ...featuresOf(restore)]);
  expect(used.size).toBeGreaterThan(30);
  expect([...used].filter((feature) => !probed.has(feature))).toEqual([]);
});

it("the embedded Step Functions take the doctor's state machine", () => {
  const text = JSON.stringify(createDefinition(stepFunctionArn));
  expect(() => readDefinition(text, () => true)).not.toThrow();
});
