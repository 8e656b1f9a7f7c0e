import type { FieldReader } from './field-reader.ts';
import { compilePath, compilePresence, type Expression, type Scope } from './json-path.ts';
import type { JsonValue } from './json-value.ts';

/** Whether a rule of a Choice state holds. Throws StateError if a path of it leads nowhere. */
export type Condition = (scope: Scope) => boolean;

type Order = 'Equals' | 'LessThan' | 'LessThanEquals' | 'GreaterThan' | 'GreaterThanEquals';

const orders: Readonly<Record<Order, (difference: number) => boolean>> = {
  Equals: (difference) => difference === 0,
  LessThan: (difference) => difference < 0,
  LessThanEquals: (difference) => difference <= 0,
  GreaterThan: (difference) => difference > 0,
  GreaterThanEquals: (difference) => difference >= 0,
};

/** RFC 3339 with the capital letters that the language demands. */
const timestampPattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

/** Undefined for a text that is no timestamp. */
export function parseTimestampMs(value: JsonValue | undefined): number | undefined {
  if (typeof value !== 'string' || !timestampPattern.test(value)) return undefined;
  const timeMs = Date.parse(value);
  return Number.isNaN(timeMs) ? undefined : timeMs;
}

/** How values of one type are told from others and compared; a value of another type makes the comparison false. */
interface Comparable<Value> {
  readonly read: (value: JsonValue) => Value | undefined;
  readonly compare: (left: Value, right: Value) => number;
}

const numbers: Comparable<number> = {
  read: (value) => (typeof value === 'number' ? value : undefined),
  compare: (left, right) => left - right,
};
const texts: Comparable<string> = {
  read: (value) => (typeof value === 'string' ? value : undefined),
  compare: (left, right) => (left < right ? -1 : left > right ? 1 : 0),
};
const timestamps: Comparable<number> = { ...numbers, read: parseTimestampMs };
const booleans: Comparable<boolean> = {
  read: (value) => (typeof value === 'boolean' ? value : undefined),
  compare: (left, right) => Number(left) - Number(right),
};

interface Comparison {
  accepts(expected: JsonValue): boolean;
  holds(value: JsonValue, expected: JsonValue): boolean;
}

const comparisons = new Map<string, Comparison>([
  ...comparisonsOf('String', texts, Object.keys(orders)),
  ...comparisonsOf('Numeric', numbers, Object.keys(orders)),
  ...comparisonsOf('Timestamp', timestamps, Object.keys(orders)),
  ...comparisonsOf('Boolean', booleans, ['Equals']),
]);

function comparisonsOf<Value>(
  type: string,
  { read, compare }: Comparable<Value>,
  names: readonly string[],
): [string, Comparison][] {
  return names.map((name) => [
    `${type}${name}`,
    {
      accepts: (expected) => read(expected) !== undefined,
      holds(value, expected) {
        const [left, right] = [read(value), read(expected)];
        if (left === undefined || right === undefined) return false;
        return orders[name as Order](compare(left, right));
      },
    },
  ]);
}

const typeTests: Readonly<Record<string, (value: JsonValue) => boolean>> = {
  IsNull: (value) => value === null,
  IsNumeric: (value) => typeof value === 'number',
  IsString: (value) => typeof value === 'string',
  IsBoolean: (value) => typeof value === 'boolean',
  IsTimestamp: (value) => parseTimestampMs(value) !== undefined,
};

const operatorNames = [
  ...comparisons.keys(),
  ...[...comparisons.keys()].map((name) => `${name}Path`),
  ...['StringMatches', 'IsPresent', ...Object.keys(typeTests)],
];

/** And, Or, Not, or `Variable` with one operator. Every other field is left to the caller. */
export function readCondition(rule: FieldReader): Condition {
  const [and, or, not] = [rule.objects('And'), rule.objects('Or'), rule.object('Not')];
  const operators = operatorNames.filter((name) => rule.has(name));
  const kinds = ['And', 'Or', 'Not'].filter((name) => rule.has(name));
  if (kinds.length + operators.length !== 1 || rule.has('Variable') !== (operators.length === 1)) {
    rule.report(
      `a rule has ${[...kinds, ...operators].join(', ') || 'no operator'}, expected And, Or, Not, or Variable with one operator`,
    );
    return () => false;
  }
  const nested = (reader: FieldReader): Condition => {
    const condition = readCondition(reader);
    reader.finish();
    return condition;
  };
  switch (kinds[0]) {
    case 'And': {
      const conditions = and.map(nested);
      return (scope) => conditions.every((condition) => condition(scope));
    }
    case 'Or': {
      const conditions = or.map(nested);
      return (scope) => conditions.some((condition) => condition(scope));
    }
    case 'Not': {
      const condition = not === undefined ? undefined : nested(not);
      return (scope) => condition?.(scope) === false;
    }
    default:
      return readTest(rule, operators[0] ?? '');
  }
}

function readTest(rule: FieldReader, operator: string): Condition {
  if (operator === 'IsPresent') {
    const isPresent = rule.compileText('Variable', compilePresence);
    const expected = readBoolean(rule, operator);
    return (scope) => isPresent?.(scope) === expected;
  }
  const variable = rule.compileText('Variable', compilePath) ?? nothing;
  const typeTest = typeTests[operator];
  if (typeTest !== undefined) {
    const expected = readBoolean(rule, operator);
    return (scope) => typeTest(variable(scope)) === expected;
  }
  if (operator === 'StringMatches') {
    const pattern = rule.compileText(operator, patternOf);
    return (scope) => {
      const value = variable(scope);
      return typeof value === 'string' && pattern?.test(value) === true;
    };
  }
  const comparison = comparisons.get(operator.replace(/Path$/, ''));
  if (operator.endsWith('Path')) {
    const expected = rule.compileText(operator, compilePath) ?? nothing;
    return (scope) => comparison?.holds(variable(scope), expected(scope)) === true;
  }
  const expected = rule.get(operator) ?? null;
  if (comparison?.accepts(expected) !== true) rule.refuse(operator, 'a value of its type');
  return (scope) => comparison?.holds(variable(scope), expected) === true;
}

const nothing: Expression = () => null;

function readBoolean(rule: FieldReader, name: string): boolean {
  rule.choice(name, [true, false]);
  return rule.get(name) === true;
}

/** `*` stands for any text; `\*` and `\\` for the character. */
function patternOf(text: string): RegExp {
  const source = text.replaceAll(/\\([*\\])|\*|[^*\\]+|\\/gs, (part, escaped?: string) => {
    if (part === '*') return '.*';
    if (part === '\\') throw new Error(`"${text}" has a \\ that escapes neither * nor \\`);
    return (escaped ?? part).replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  });
  return new RegExp(`^${source}$`, 's');
}
