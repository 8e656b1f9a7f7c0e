import { showValue, TemplateError } from './template-error.ts';
import { isTemplateObject, type TemplateObject, type TemplateValue } from './template-value.ts';

/**
 * Reads resolved properties of one resource. As in CloudFormation, numbers and booleans may be written as text. Every
 * refusal names type, logical id, property, value and rule.
 */
export class PropertyReader {
  readonly values: TemplateObject;
  readonly #place: string;
  readonly #path: string;

  /** `place` is "type logicalId"; `path` is the property that holds `values`, empty for the resource itself. */
  constructor(place: string, values: TemplateObject, path = '') {
    this.#place = place;
    this.values = values;
    this.#path = path;
  }

  text(name: string): string {
    return this.textOr(name, undefined) ?? this.#missing(name, 'text');
  }

  textOr<Default extends string | undefined>(name: string, fallback: Default): string | Default {
    const value = this.values[name];
    if (value === undefined) return fallback;
    if (typeof value === 'string') return value;
    throw this.refuse(name, 'a text');
  }

  /** One of the given texts. */
  choice<const Choice extends string>(
    name: string,
    choices: readonly Choice[],
    fallback: Choice,
  ): Choice {
    const value = this.textOr(name, fallback);
    const choice = choices.find((candidate) => candidate === value);
    if (choice === undefined) throw this.refuse(name, choices.join(' or '));
    return choice;
  }

  /** An integer within inclusive bounds. */
  integer(name: string, bounds: { min: number; max: number }): number {
    return this.integerOr(name, bounds, undefined) ?? this.#missing(name, 'an integer');
  }

  integerOr<Default extends number | undefined>(
    name: string,
    bounds: { min: number; max: number },
    fallback: Default,
  ): number | Default {
    const value = this.values[name];
    if (value === undefined) return fallback;
    const number = typeof value === 'string' && value !== '' ? Number(value) : value;
    if (typeof number !== 'number' || !Number.isInteger(number)) {
      throw this.refuse(name, 'an integer');
    }
    if (number < bounds.min || number > bounds.max) {
      throw this.refuse(name, `${bounds.min} to ${bounds.max}`);
    }
    return number;
  }

  boolean(name: string, fallback: boolean): boolean {
    const value = this.values[name] ?? fallback;
    if (value === true || value === 'true') return true;
    if (value === false || value === 'false') return false;
    throw this.refuse(name, 'true or false');
  }

  /** A list of texts, empty if absent. */
  texts(name: string): string[] {
    return this.#list(name).map((item) => {
      if (typeof item !== 'string') throw this.refuse(name, 'a list of texts');
      return item;
    });
  }

  /** A nested object, undefined if absent. */
  object(name: string): PropertyReader | undefined {
    const value = this.values[name];
    if (value === undefined) return undefined;
    if (!isTemplateObject(value)) throw this.refuse(name, 'an object');
    return new PropertyReader(this.#place, value, this.#pathOf(name));
  }

  /** A list of nested objects, empty if absent. */
  objects(name: string): PropertyReader[] {
    return this.#list(name).map((item, index) => {
      if (!isTemplateObject(item)) throw this.refuse(name, 'a list of objects');
      return new PropertyReader(this.#place, item, `${this.#pathOf(name)}[${index}]`);
    });
  }

  /** The error for a property whose value breaks a rule. */
  refuse(name: string, expected: string, remedy = 'change it'): TemplateError {
    return new TemplateError([
      `${this.#place}: property "${this.#pathOf(name)}" is ${showValue(this.values[name])}, expected ${expected}; ${remedy}`,
    ]);
  }

  #list(name: string): TemplateValue[] {
    const value = this.values[name];
    if (value === undefined) return [];
    if (!Array.isArray(value)) throw this.refuse(name, 'a list');
    return value;
  }

  #missing(name: string, expected: string): never {
    throw new TemplateError([
      `${this.#place}: property "${this.#pathOf(name)}" is missing, expected ${expected}; add it`,
    ]);
  }

  #pathOf(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`;
  }
}
