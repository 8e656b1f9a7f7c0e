import type { SeededRandom } from '../seeded-random.ts';
import type { FieldReader } from './field-reader.ts';
import { compileResultPath, type PutResult } from './json-path.ts';
import { isJsonObject, type JsonValue } from './json-value.ts';
import { matchesError, type StateError } from './state-error.ts';

export interface Retrier {
  readonly errors: readonly string[];
  readonly intervalSeconds: number;
  readonly attemptsMax: number;
  readonly backoffRate: number;
  readonly delaySecondsMax: number;
  readonly hasJitter: boolean;
}

export interface Catcher {
  readonly errors: readonly string[];
  readonly next: string;
  readonly putResult: PutResult;
}

/** What the service allows for seconds and counts. */
export const COUNT_MAX = 99_999_999;
const DELAY_SECONDS_MAX = 31_622_400;

export function readRetriers(state: FieldReader): Retrier[] {
  const readers = state.objects('Retry');
  return readers.map((reader, index) => {
    const intervalSeconds = reader.number('IntervalSeconds', { min: 1, max: COUNT_MAX }) ?? 1;
    const retrier: Retrier = {
      errors: readErrors(reader, index === readers.length - 1),
      intervalSeconds,
      attemptsMax: reader.number('MaxAttempts', { min: 0, max: COUNT_MAX }) ?? 3,
      backoffRate: reader.number('BackoffRate', { min: 1, max: COUNT_MAX, isReal: true }) ?? 2,
      delaySecondsMax:
        reader.number('MaxDelaySeconds', {
          min: intervalSeconds + 1,
          max: DELAY_SECONDS_MAX - 1,
        }) ?? Infinity,
      hasJitter: reader.get('JitterStrategy') === 'FULL',
    };
    reader.choice('JitterStrategy', ['FULL', 'NONE']);
    reader.textOr('Comment');
    reader.finish();
    return retrier;
  });
}

export function readCatchers(state: FieldReader): Catcher[] {
  const readers = state.objects('Catch');
  return readers.map((reader, index) => {
    const catcher: Catcher = {
      errors: readErrors(reader, index === readers.length - 1),
      next: reader.text('Next'),
      putResult: readResultPath(reader),
    };
    reader.textOr('Comment');
    reader.finish();
    return catcher;
  });
}

/** `null` drops the result, absence lets it replace everything. */
export function readResultPath(reader: FieldReader): PutResult {
  if (reader.get('ResultPath') === null) return (rawInput) => rawInput;
  return reader.compileText('ResultPath', compileResultPath) ?? ((_rawInput, result) => result);
}

function readErrors(reader: FieldReader, isLast: boolean): string[] {
  const value: JsonValue = reader.get('ErrorEquals') ?? [];
  const errors = Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];
  if (isJsonObject(value) || errors.length === 0) reader.report('ErrorEquals names no error');
  if (errors.includes('States.ALL') && (errors.length > 1 || !isLast)) {
    reader.report('States.ALL must stand alone, and in the last rule');
  }
  return errors;
}

/** How often each retrier of one visit to a state has been used. */
export class RetryCounter {
  readonly #retriers: readonly Retrier[];
  readonly #used = new Map<Retrier, number>();

  constructor(retriers: readonly Retrier[]) {
    this.#retriers = retriers;
  }

  /** Retries so far, of all retriers: `$$.State.RetryCount`. */
  get count(): number {
    return this.#used.values().reduce((sum, used) => sum + used, 0);
  }

  /** Seconds to wait before the next attempt; undefined when the first retrier that matches is used up, or none does. */
  nextDelaySeconds(error: StateError, random: SeededRandom): number | undefined {
    const retrier = findRule(this.#retriers, error);
    if (retrier === undefined) return undefined;
    const used = this.#used.get(retrier) ?? 0;
    if (used >= retrier.attemptsMax) return undefined;
    this.#used.set(retrier, used + 1);
    const seconds = Math.min(
      retrier.intervalSeconds * retrier.backoffRate ** used,
      retrier.delaySecondsMax,
    );
    return retrier.hasJitter ? seconds * random.next() : seconds;
  }
}

/** The first rule that names the error. */
export function findRule<Rule extends { readonly errors: readonly string[] }>(
  rules: readonly Rule[],
  error: StateError,
): Rule | undefined {
  return rules.find((rule) => rule.errors.some((name) => matchesError(name, error)));
}
