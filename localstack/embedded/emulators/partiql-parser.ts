import type { DocumentPath } from './dynalite-internals.ts';
import { validationError } from './dynamodb-errors.ts';
import { parsePredicate } from './partiql-predicates.ts';
import { createReader, parseName, parsePath, type Reader } from './partiql-reader.ts';
import type { Arithmetic, Change, Statement, Term } from './partiql-syntax.ts';
import { parseTerm } from './partiql-terms.ts';
import { malformed } from './partiql-tokens.ts';

type WithoutCount<T> = T extends unknown ? Omit<T, 'parameterCount'> : never;
type StatementBody = WithoutCount<Statement>;

/** Parses the part of PartiQL that addresses single items. Throws `ValidationException`. */
export function parseStatement(text: string): Statement {
  const tokens = createReader(text);
  const body = parseBody(tokens);
  tokens.takeSymbol(';');
  const end = tokens.next();
  if (end.kind !== 'end') throw malformed(end.at, `unexpected ${end.text}`);
  return { ...body, parameterCount: tokens.parameterCount() };
}

function parseBody(tokens: Reader): StatementBody {
  if (tokens.takeWord('INSERT')) {
    tokens.expectWord('INTO');
    const table = parseTable(tokens);
    tokens.expectWord('VALUE');
    return { kind: 'insert', table, item: parseTerm(tokens, 0) };
  }
  if (tokens.takeWord('UPDATE')) {
    const table = parseTable(tokens);
    const changes = parseChanges(tokens);
    tokens.expectWord('WHERE');
    const where = parsePredicate(tokens);
    return { kind: 'update', table, changes, where, returning: parseReturning(tokens) };
  }
  if (tokens.takeWord('DELETE')) {
    tokens.expectWord('FROM');
    const table = parseTable(tokens);
    tokens.expectWord('WHERE');
    const where = parsePredicate(tokens);
    return { kind: 'delete', table, where, returning: parseReturning(tokens) };
  }
  tokens.expectWord('SELECT');
  const projection = tokens.takeSymbol('*') ? undefined : parsePaths(tokens);
  tokens.expectWord('FROM');
  const table = parseTable(tokens);
  if (!tokens.takeWord('WHERE')) {
    throw validationError('this emulator reads single items only: give the whole key in WHERE');
  }
  return { kind: 'select', table, projection, where: parsePredicate(tokens) };
}

function parseTable(tokens: Reader): string {
  const table = parseName(tokens);
  if (tokens.takeSymbol('.')) {
    throw validationError(`this emulator has no PartiQL on indexes, got one of table ${table}`);
  }
  return table;
}

function parsePaths(tokens: Reader): DocumentPath[] {
  const paths = [parsePath(tokens)];
  while (tokens.takeSymbol(',')) paths.push(parsePath(tokens));
  return paths;
}

function parseChanges(tokens: Reader): Change[] {
  const changes: Change[] = [];
  for (;;) {
    if (tokens.takeWord('SET')) {
      do {
        const path = parsePath(tokens);
        tokens.expectSymbol('=');
        changes.push({ kind: 'set', path, value: parseSum(tokens) });
      } while (tokens.takeSymbol(','));
    } else if (tokens.takeWord('REMOVE')) {
      changes.push({ kind: 'remove', path: parsePath(tokens) });
    } else break;
  }
  if (changes.length === 0) {
    throw malformed(tokens.peek().at, `expected SET or REMOVE, got ${tokens.peek().text}`);
  }
  return changes;
}

function parseSum(tokens: Reader): Term | Arithmetic {
  const left = parseTerm(tokens, 0);
  if (tokens.takeSymbol('+')) {
    return { kind: 'sum', sign: 'add', left, right: parseTerm(tokens, 0) };
  }
  if (tokens.takeSymbol('-')) {
    return { kind: 'sum', sign: 'subtract', left, right: parseTerm(tokens, 0) };
  }
  return left;
}

/** `RETURNING [ALL | MODIFIED] [OLD | NEW] *` in the spelling of `ReturnValues`. */
function parseReturning(tokens: Reader): string | undefined {
  if (!tokens.takeWord('RETURNING')) return undefined;
  const scope = tokens.takeWord('ALL') ? 'ALL' : 'UPDATED';
  if (scope === 'UPDATED') tokens.expectWord('MODIFIED');
  const version = tokens.takeWord('OLD') ? 'OLD' : 'NEW';
  if (version === 'NEW') tokens.expectWord('NEW');
  tokens.expectSymbol('*');
  return `${scope}_${version}`;
}
