import type { Reader } from './partiql-reader.ts';
import type { Predicate, Term } from './partiql-syntax.ts';
import { depthMax, parseArguments, parseMembers, parseTerm } from './partiql-terms.ts';
import { malformed } from './partiql-tokens.ts';

const comparisons = ['=', '<>', '<=', '>=', '<', '>', '!='] as const;
const predicateFunctions = new Map([
  ['ATTRIBUTE_EXISTS', 1],
  ['ATTRIBUTE_NOT_EXISTS', 1],
  ['ATTRIBUTE_TYPE', 2],
  ['BEGINS_WITH', 2],
  ['CONTAINS', 2],
]);

/** A condition of WHERE: OR binds weaker than AND, AND weaker than NOT. */
export function parsePredicate(tokens: Reader): Predicate {
  return parseOr(tokens, 0);
}

function parseOr(tokens: Reader, depth: number): Predicate {
  let left = parseAnd(tokens, depth);
  while (tokens.takeWord('OR')) left = { type: 'or', args: [left, parseAnd(tokens, depth)] };
  return left;
}

function parseAnd(tokens: Reader, depth: number): Predicate {
  let left = parseNot(tokens, depth);
  while (tokens.takeWord('AND')) left = { type: 'and', args: [left, parseNot(tokens, depth)] };
  return left;
}

function parseNot(tokens: Reader, depth: number): Predicate {
  if (depth > depthMax) throw malformed(tokens.peek().at, `nested deeper than ${depthMax}`);
  if (tokens.takeWord('NOT')) return { type: 'not', args: [parseNot(tokens, depth + 1)] };
  if (tokens.takeSymbol('(')) {
    const inner = parseOr(tokens, depth + 1);
    tokens.expectSymbol(')');
    return inner;
  }
  return parseSimple(tokens, depth);
}

function parseSimple(tokens: Reader, depth: number): Predicate {
  const { kind, text } = tokens.peek();
  const name = text.toUpperCase();
  const arity = kind === 'name' ? predicateFunctions.get(name) : undefined;
  if (arity !== undefined) {
    tokens.next();
    const terms = parseArguments(tokens, depth, arity);
    return { type: 'function', name: name.toLowerCase(), terms };
  }
  const left = parseTerm(tokens, depth);
  if (tokens.takeWord('IS')) return parseMissing(tokens, left);
  if (tokens.takeWord('BETWEEN')) {
    const low = parseTerm(tokens, depth);
    tokens.expectWord('AND');
    return { type: 'between', terms: [left, low, parseTerm(tokens, depth)] };
  }
  if (tokens.takeWord('IN')) return { type: 'in', terms: [left, ...parseChoices(tokens, depth)] };
  const symbol = comparisons.find((candidate) => tokens.takeSymbol(candidate));
  if (symbol === undefined) {
    throw malformed(tokens.peek().at, `expected a comparison, got ${tokens.peek().text}`);
  }
  return { type: symbol === '!=' ? '<>' : symbol, terms: [left, parseTerm(tokens, depth)] };
}

function parseMissing(tokens: Reader, term: Term): Predicate {
  const isNegated = tokens.takeWord('NOT');
  tokens.expectWord('MISSING');
  const name = isNegated ? 'attribute_exists' : 'attribute_not_exists';
  return { type: 'function', name, terms: [term] };
}

function parseChoices(tokens: Reader, depth: number): Term[] {
  if (tokens.takeSymbol('(')) return parseMembers(tokens, depth, ')');
  tokens.expectSymbol('[');
  return parseMembers(tokens, depth, ']');
}
