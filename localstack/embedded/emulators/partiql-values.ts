import {
  type AttributeValue,
  type Condition,
  type DocumentPath,
  type Item,
  type Operand,
  validations,
} from './dynalite-internals.ts';
import { validationError } from './dynamodb-errors.ts';
import type { Arithmetic, Predicate, Term } from './partiql-syntax.ts';

export function bindPredicate(
  predicate: Predicate,
  parameters: readonly AttributeValue[],
): Condition {
  if ('args' in predicate) {
    const args = predicate.args.map((operand) => bindPredicate(operand, parameters));
    return { type: predicate.type, args };
  }
  const { type, name } = predicate;
  const args = predicate.terms.map((term) => bindTerm(term, parameters));
  return { type, args, ...(name === undefined ? {} : { name }) };
}

function bindTerm(term: Term, parameters: readonly AttributeValue[]): Operand {
  if (term.kind === 'path') return term.path;
  if (term.kind === 'size') {
    return { type: 'function', name: 'size', args: [bindTerm(term.of, parameters)] };
  }
  return bindValue(term, parameters);
}

export function bindValue(term: Term, parameters: readonly AttributeValue[]): AttributeValue {
  switch (term.kind) {
    case 'parameter':
      return parameters[term.index] ?? {};
    case 'literal': {
      // A copy, for the statement is kept and dynalite changes what it is given.
      const value = { ...term.value };
      assertValue(value);
      return value;
    }
    case 'map': {
      const entries = term.entries.map(([name, value]) => [name, bindValue(value, parameters)]);
      return { M: Object.fromEntries(entries) as Item };
    }
    case 'list':
      return { L: term.members.map((member) => bindValue(member, parameters)) };
    case 'set':
      return bindSet(term.members.map((member) => bindValue(member, parameters)));
    case 'path':
    case 'size':
      throw validationError('an attribute cannot be a member of a value; pass it as a parameter');
  }
}

function bindSet(members: readonly AttributeValue[]): AttributeValue {
  const [type] = Object.keys(members[0] ?? {});
  const isUniform = members.every((member) => type !== undefined && type in member);
  if (!isUniform || type === undefined || !['S', 'N', 'B'].includes(type)) {
    throw validationError('a set needs members that are all strings, all numbers or all binary');
  }
  const value = { [`${type}S`]: members.map((member) => member[type]) };
  assertValue(value);
  return value;
}

/** Also brings numbers to their canonical form, in place. Throws `ValidationException`. */
export function assertValue(value: AttributeValue): void {
  const problem = validations.validateAttributeValue(value);
  if (problem !== undefined) throw validationError(problem);
}

/** What SET assigns. */
export function bindSum(value: Term | Arithmetic, parameters: readonly AttributeValue[]): Operand {
  if (value.kind === 'size') throw validationError('SET takes a value or a sum, not size()');
  if (value.kind !== 'sum') return bindTerm(value, parameters);
  const args = [bindTerm(value.left, parameters), bindTerm(value.right, parameters)];
  return { type: value.sign, args };
}

export function isPath(operand: Operand): operand is DocumentPath {
  return Array.isArray(operand);
}
