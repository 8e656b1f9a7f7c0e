import { isJsonObject, type JsonObject, type JsonValue } from './json-value.ts';

/**
 * Reads the fields of one object of a definition. What is wrong becomes a line in `problems`, so that all of it is found
 * at once; fields that nobody has asked for are wrong, too.
 */
export class FieldReader {
  /** Says whose fields these are, such as `state "Load"`. */
  readonly place: string;
  readonly problems: string[];
  readonly #values: JsonObject;
  readonly #path: string;
  readonly #known = new Set<string>();

  constructor(place: string, values: JsonObject, problems: string[], path = '') {
    this.place = place;
    this.problems = problems;
    this.#values = values;
    this.#path = path;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** The value as it is; undefined if absent. */
  get(name: string): JsonValue | undefined {
    this.#known.add(name);
    return Object.hasOwn(this.#values, name) ? this.#values[name] : undefined;
  }

  /** A text that must be there; the empty text if it is not. */
  text(name: string): string {
    const text = this.textOr(name);
    if (text === undefined && this.get(name) === undefined) {
      this.report(`field "${this.pathOf(name)}" is missing, expected a text; add it`);
    }
    return text ?? '';
  }

  textOr(name: string): string | undefined {
    const value = this.get(name);
    if (value === undefined || typeof value === 'string') return value;
    this.refuse(name, 'a text');
    return undefined;
  }

  /** A number within inclusive bounds, an integer unless `isReal`. */
  number(name: string, bounds: { min: number; max: number; isReal?: boolean }): number | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    const fits =
      typeof value === 'number' &&
      value >= bounds.min &&
      value <= bounds.max &&
      (bounds.isReal === true || Number.isInteger(value));
    if (fits) return value;
    const kind = bounds.isReal === true ? 'a number' : 'an integer';
    this.refuse(name, `${kind} from ${bounds.min} to ${bounds.max}`);
    return undefined;
  }

  /** One of the given values, or absent. */
  choice(name: string, choices: readonly JsonValue[]): void {
    const value = this.get(name);
    if (value === undefined || choices.includes(value)) return;
    this.refuse(name, choices.map((choice) => JSON.stringify(choice)).join(' or '));
  }

  /** A list of objects, empty if absent. */
  objects(name: string): FieldReader[] {
    const value = this.get(name);
    if (value === undefined) return [];
    const items = Array.isArray(value) ? value : [];
    const objects = items.filter(isJsonObject);
    if (!Array.isArray(value) || objects.length < items.length) {
      this.refuse(name, 'a list of objects');
    }
    return objects.map((item, index) => this.#child(item, `${this.pathOf(name)}[${index}]`));
  }

  object(name: string): FieldReader | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    if (isJsonObject(value)) return this.#child(value, this.pathOf(name));
    this.refuse(name, 'an object');
    return undefined;
  }

  /** What `compile` makes of a value that is there; what it throws is a problem of this field. */
  compile<Result>(name: string, compile: (value: JsonValue) => Result): Result | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    try {
      return compile(value);
    } catch (error) {
      this.report(`field "${this.pathOf(name)}": ${(error as Error).message}`);
      return undefined;
    }
  }

  compileText<Result>(name: string, compile: (text: string) => Result): Result | undefined {
    const text = this.textOr(name);
    return text === undefined ? undefined : this.compile(name, () => compile(text));
  }

  refuse(name: string, expected: string): void {
    const value = JSON.stringify(this.get(name)).slice(0, 120);
    this.report(`field "${this.pathOf(name)}" is ${value}, expected ${expected}; change it`);
  }

  report(problem: string): void {
    this.problems.push(`${this.place}: ${problem}`);
  }

  /** Call it last: every field that was not asked for is reported. */
  finish(): void {
    for (const name of Object.keys(this.#values)) {
      if (this.#known.has(name)) continue;
      this.report(
        `field "${this.pathOf(name)}" is not supported locally (known here: ${[...this.#known].join(', ')}); remove it or teach it to the local Step Functions`,
      );
    }
  }

  pathOf(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`;
  }

  #child(values: JsonObject, path: string): FieldReader {
    return new FieldReader(this.place, values, this.problems, path);
  }
}
