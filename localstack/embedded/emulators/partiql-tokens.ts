import { validationError } from './dynamodb-errors.ts';

/** A piece of a PartiQL statement. */
export interface Token {
  /** `name` is bare and may be a keyword, `quoted` is an identifier in double quotes. */
  readonly kind: 'name' | 'quoted' | 'string' | 'number' | 'symbol' | 'end';
  /** Without quotes. */
  readonly text: string;
  /** Character position in the statement. */
  readonly at: number;
}

const pieces: readonly (readonly [Token['kind'], RegExp])[] = [
  ['quoted', /"(?:[^"]|"")*"/y],
  ['string', /'(?:[^']|'')*'/y],
  ['number', /\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y],
  ['name', /[A-Za-z_$][A-Za-z0-9_$]*/y],
  ['symbol', /<<|>>|<>|!=|<=|>=|[<>=(){}[\],:.?+\-*;]/y],
];

/** Cuts a statement into tokens; the last one is the end. Throws `ValidationException`. */
export function readTokens(statement: string): Token[] {
  const tokens: Token[] = [];
  let at = skipSpace(statement, 0);
  while (at < statement.length) {
    const token = readToken(statement, at);
    tokens.push(token.token);
    at = skipSpace(statement, token.end);
  }
  tokens.push({ kind: 'end', text: 'the end', at });
  return tokens;
}

/** What AWS says of any statement that it cannot read, with the reason. */
export function malformed(at: number, reason: string): Error {
  return validationError(
    `Statement wasn't well formed, can't be processed: ${reason} at character ${at}`,
  );
}

function readToken(statement: string, at: number): { token: Token; end: number } {
  for (const [kind, pattern] of pieces) {
    pattern.lastIndex = at;
    const found = pattern.exec(statement)?.[0];
    if (found === undefined) continue;
    return { token: { kind, text: unquote(kind, found), at }, end: at + found.length };
  }
  throw malformed(at, `unexpected character ${statement.charAt(at)}`);
}

function unquote(kind: Token['kind'], text: string): string {
  if (kind === 'quoted') return text.slice(1, -1).replaceAll('""', '"');
  if (kind === 'string') return text.slice(1, -1).replaceAll("''", "'");
  return text;
}

function skipSpace(statement: string, at: number): number {
  const space = /\s*/y;
  space.lastIndex = at;
  space.exec(statement);
  return space.lastIndex;
}
