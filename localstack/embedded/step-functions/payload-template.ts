import { intrinsicFunctions } from './intrinsic-functions.ts';
import { compilePath, type Expression } from './json-path.ts';
import { isJsonObject, type JsonValue } from './json-value.ts';

/** Depth to which intrinsic functions may be nested, as on AWS. */
const CALL_DEPTH_MAX = 10;

/**
 * Parameters, ItemSelector, ResultSelector: JSON in which the value of a field whose name ends in `.$` is a path or an
 * intrinsic function. Throws for what cannot be one.
 */
export function compileTemplate(template: JsonValue): Expression {
  if (Array.isArray(template)) {
    const items = template.map(compileTemplate);
    return (scope) => items.map((item) => item(scope));
  }
  if (!isJsonObject(template)) return () => template;
  const fields = Object.entries(template).map(([name, value]): [string, Expression] => {
    if (!name.endsWith('.$')) return [name, compileTemplate(value)];
    if (typeof value === 'string') return [name.slice(0, -2), compileExpression(value)];
    throw new Error(`field "${name}" is ${JSON.stringify(value)}, expected a path or a function`);
  });
  const names = fields.map(([name]) => name);
  const doubled = names.find((name, index) => names.indexOf(name) !== index);
  if (doubled !== undefined)
    throw new Error(`fields "${doubled}" and "${doubled}.$" exclude each other`);
  return (scope) => Object.fromEntries(fields.map(([name, value]) => [name, value(scope)]));
}

/** A path, or a call such as `States.Format('{}-{}', $.a, States.UUID())`. */
export function compileExpression(text: string): Expression {
  return text.startsWith('$') ? compilePath(text) : compileCall(text);
}

function compileCall(text: string): Expression {
  const parser = new CallParser(text);
  const call = parser.readCall(1);
  parser.expectEnd();
  return call;
}

const calledName = /States\.[A-Za-z0-9]+/y;
/** Up to the comma or parenthesis that ends the argument; brackets may hold quoted names with either of them. */
const pathArgument = /\$(?:\['(?:[^'\\]|\\.)*'\]|\["(?:[^"\\]|\\.)*"\]|[^,()\s])*/y;
const textArgument = /'((?:[^'\\]|\\.)*)'/y;
const literalArgument = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

class CallParser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readCall(depth: number): Expression {
    const name = this.#match(calledName)?.[0];
    if (name === undefined) throw this.#unexpected('a path ($…) or a function (States.…)');
    if (depth > CALL_DEPTH_MAX) {
      throw new Error(`"${this.#text}" nests functions deeper than ${CALL_DEPTH_MAX}`);
    }
    const called = Object.hasOwn(intrinsicFunctions, name) ? intrinsicFunctions[name] : undefined;
    if (called === undefined) {
      const known = Object.keys(intrinsicFunctions).join(', ');
      throw new Error(`function ${name} is not supported locally (known here: ${known})`);
    }
    const args = this.#readArguments(name, depth);
    const { argumentsMin: min, argumentsMax: max = min } = called;
    if (args.length < min || args.length > max) {
      const expected = max === min ? `${min}` : `at least ${min}`;
      throw new Error(`${name} has ${args.length} arguments, expected ${expected}`);
    }
    return (scope) => called.run(args.map((argument) => argument(scope)));
  }

  expectEnd(): void {
    if (this.#at !== this.#text.length) throw this.#unexpected('the end');
  }

  #readArguments(name: string, depth: number): Expression[] {
    const args: Expression[] = [];
    if (!this.#skip('(')) throw this.#unexpected('(');
    if (this.#skip(')')) return args;
    do {
      args.push(this.#readArgument(name === 'States.Format' && args.length === 0, depth));
    } while (this.#skip(','));
    if (!this.#skip(')')) throw this.#unexpected(', or )');
    return args;
  }

  #readArgument(isFormat: boolean, depth: number): Expression {
    const path = this.#match(pathArgument)?.[0];
    if (path !== undefined) return compilePath(path);
    const text = this.#match(textArgument)?.[1];
    if (text !== undefined) {
      // States.Format must still see which braces are escaped.
      const value = isFormat ? text : text.replaceAll(/\\(.)/gs, '$1');
      return () => value;
    }
    const literal = this.#match(literalArgument)?.[0];
    if (literal === undefined) return this.readCall(depth + 1);
    const value = JSON.parse(literal) as JsonValue;
    return () => value;
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    this.#skipSpace();
    const sticky = new RegExp(pattern);
    sticky.lastIndex = this.#at;
    const match = sticky.exec(this.#text) ?? undefined;
    if (match !== undefined) this.#at = sticky.lastIndex;
    return match;
  }

  #skip(character: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #skipSpace(): void {
    while (this.#text[this.#at] === ' ') this.#at += 1;
  }

  #unexpected(expected: string): Error {
    const found = this.#text.slice(this.#at, this.#at + 20);
    return new Error(`"${this.#text}" has "${found}" at ${this.#at}, expected ${expected}`);
  }
}
