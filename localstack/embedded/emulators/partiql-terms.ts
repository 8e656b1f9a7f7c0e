import { validationError } from './dynamodb-errors.ts';
import { parsePath, type Reader } from './partiql-reader.ts';
import type { Term } from './partiql-syntax.ts';
import { malformed } from './partiql-tokens.ts';

/** Deep enough for people, shallow enough for the stack. */
export const depthMax = 32;

export function parseTerm(tokens: Reader, depth: number): Term {
  if (depth > depthMax) throw malformed(tokens.peek().at, `nested deeper than ${depthMax}`);
  const { kind, text, at } = tokens.peek();
  if (kind === 'string') return literal(tokens, { S: text });
  if (kind === 'number') return literal(tokens, { N: text });
  if (kind === 'quoted') return { kind: 'path', path: parsePath(tokens) };
  if (kind === 'name') return parseNamed(tokens, depth);
  if (tokens.takeSymbol('?')) return { kind: 'parameter', index: tokens.takeParameter() };
  if (tokens.takeSymbol('-')) {
    const number = tokens.next();
    if (number.kind === 'number') return { kind: 'literal', value: { N: `-${number.text}` } };
  }
  if (tokens.takeSymbol('[')) {
    return { kind: 'list', members: parseMembers(tokens, depth + 1, ']') };
  }
  if (tokens.takeSymbol('<<')) {
    return { kind: 'set', members: parseMembers(tokens, depth + 1, '>>') };
  }
  if (tokens.takeSymbol('{')) return { kind: 'map', entries: parseEntries(tokens, depth + 1) };
  throw malformed(at, `expected a value, got ${text}`);
}

function parseNamed(tokens: Reader, depth: number): Term {
  switch (tokens.peek().text.toUpperCase()) {
    case 'TRUE':
      return literal(tokens, { BOOL: true });
    case 'FALSE':
      return literal(tokens, { BOOL: false });
    case 'NULL':
      return literal(tokens, { NULL: true });
  }
  const path = parsePath(tokens);
  if (path.length === 1 && tokens.peek().text === '(') {
    if (String(path[0]).toUpperCase() !== 'SIZE') {
      throw validationError(`this emulator does not know the function ${String(path[0])}`);
    }
    const [of] = parseArguments(tokens, depth + 1, 1);
    if (of !== undefined) return { kind: 'size', of };
  }
  return { kind: 'path', path };
}

function literal(tokens: Reader, value: Readonly<Record<string, unknown>>): Term {
  tokens.next();
  return { kind: 'literal', value };
}

export function parseMembers(tokens: Reader, depth: number, end: string): Term[] {
  const members: Term[] = [];
  if (tokens.takeSymbol(end)) return members;
  do members.push(parseTerm(tokens, depth));
  while (tokens.takeSymbol(','));
  tokens.expectSymbol(end);
  return members;
}

function parseEntries(tokens: Reader, depth: number): [string, Term][] {
  const entries: [string, Term][] = [];
  if (tokens.takeSymbol('}')) return entries;
  do {
    const name = tokens.next();
    if (name.kind !== 'string') {
      throw malformed(name.at, `expected an attribute name in single quotes, got ${name.text}`);
    }
    tokens.expectSymbol(':');
    entries.push([name.text, parseTerm(tokens, depth)]);
  } while (tokens.takeSymbol(','));
  tokens.expectSymbol('}');
  return entries;
}

export function parseArguments(tokens: Reader, depth: number, arity: number): Term[] {
  tokens.expectSymbol('(');
  const terms = parseMembers(tokens, depth, ')');
  if (terms.length !== arity) {
    throw malformed(tokens.peek().at, `expected ${arity} arguments, got ${terms.length}`);
  }
  return terms;
}
