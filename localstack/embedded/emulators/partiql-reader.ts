import type { DocumentPath } from './dynalite-internals.ts';
import { malformed, readTokens, type Token } from './partiql-tokens.ts';

/** A statement's tokens, taken from left to right. */
export interface Reader {
  peek(): Token;
  next(): Token;
  /** Consumes the keyword, in any case, if it comes next. */
  takeWord(word: string): boolean;
  expectWord(word: string): void;
  takeSymbol(symbol: string): boolean;
  expectSymbol(symbol: string): void;
  takeParameter(): number;
  parameterCount(): number;
}

export function createReader(text: string): Reader {
  const tokens = readTokens(text);
  const last = tokens.length - 1;
  let position = 0;
  let parameters = 0;
  const peek = (): Token => tokens[Math.min(position, last)] as Token;
  const next = (): Token => {
    const token = peek();
    position += 1;
    return token;
  };
  const take = (matches: boolean): boolean => {
    if (matches) position += 1;
    return matches;
  };
  const isWord = (word: string): boolean =>
    peek().kind === 'name' && peek().text.toUpperCase() === word;
  const isSymbol = (symbol: string): boolean => peek().kind === 'symbol' && peek().text === symbol;
  const expect = (matches: boolean, wanted: string): void => {
    if (!take(matches)) throw malformed(peek().at, `expected ${wanted}, got ${peek().text}`);
  };
  return {
    peek,
    next,
    takeWord: (word) => take(isWord(word)),
    expectWord: (word) => expect(isWord(word), word),
    takeSymbol: (symbol) => take(isSymbol(symbol)),
    expectSymbol: (symbol) => expect(isSymbol(symbol), symbol),
    takeParameter: () => parameters++,
    parameterCount: () => parameters,
  };
}

export function parseName(tokens: Reader): string {
  const token = tokens.next();
  if (token.kind === 'name' || token.kind === 'quoted') return token.text;
  throw malformed(token.at, `expected a name, got ${token.text}`);
}

export function parsePath(tokens: Reader): DocumentPath {
  const path: (string | number)[] = [parseName(tokens)];
  for (;;) {
    if (tokens.takeSymbol('.')) path.push(parseName(tokens));
    else if (tokens.takeSymbol('[')) {
      const position = tokens.next();
      if (position.kind !== 'number' || !/^\d+$/.test(position.text)) {
        throw malformed(position.at, `expected a list position, got ${position.text}`);
      }
      path.push(Number(position.text));
      tokens.expectSymbol(']');
    } else return path;
  }
}
