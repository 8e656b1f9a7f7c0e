/** One setting that is wrong: what it is called, what it is, what it may be, what to do. */
export interface ConfigurationProblem {
  readonly name: string;
  /** The value as written, shortened; `nothing` if it is missing. */
  readonly got: string;
  readonly expected: string;
  readonly remedy: string;
}

/**
 * A configuration that cannot be run or deployed. It carries every problem that was found, since
 * whoever repairs one at a time waits for one deployment each.
 */
export class ConfigurationError extends Error {
  readonly kind = 'invalid';
  // Private: a field would be printed once more below the message that says the same.
  readonly #problems: readonly ConfigurationProblem[];

  /** `subject` says what was being read, for example `environment of an operator function`. */
  constructor(subject: string, problems: readonly ConfigurationProblem[]) {
    const lines = problems.map((problem) => `\n  - ${describeProblem(problem)}`);
    const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
    super(`${subject}: ${count}${lines.join('')}`);
    this.name = 'ConfigurationError';
    this.#problems = problems;
  }

  get problems(): readonly ConfigurationProblem[] {
    return this.#problems;
  }
}

export function describeProblem(problem: ConfigurationProblem): string {
  return `${problem.name}: got ${problem.got}, expected ${problem.expected}; ${problem.remedy}`;
}

const SHOWN_CHARACTERS_MAX = 120;

/** The value as an error shows it. Any value goes in, also one that JSON cannot write. */
export function showValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = typeof value === 'number' ? String(value) : writeJson(value);
  return text.length <= SHOWN_CHARACTERS_MAX ? text : `${text.slice(0, SHOWN_CHARACTERS_MAX)}…`;
}

function writeJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? `a ${typeof value}`;
  } catch {
    return `a ${typeof value}`;
  }
}
