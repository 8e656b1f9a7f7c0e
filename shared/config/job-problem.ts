import type { z } from 'zod';
import { showValue, type ConfigurationProblem } from './configuration-error.ts';
import { REFUSED_SETTINGS } from './refused-settings.ts';

type Problem = ConfigurationProblem & { readonly code: string };

/** One zod issue as problems that say value, rule and remedy: one for each unknown field. */
export function toJobProblems(issue: z.core.$ZodIssue): Problem[] {
  switch (issue.code) {
    case 'custom':
      return [toRuleProblem(issue.path, issue.input, issue.params)];
    case 'invalid_key':
      return issue.issues.flatMap((inner) =>
        toJobProblems({ ...inner, path: [...issue.path, ...inner.path] }),
      );
    case 'unrecognized_keys':
      return issue.keys.map((key) => toUnknownFieldProblem(issue.path, key, issue.input));
    default:
      return [
        {
          code: 'shape',
          name: writePath(issue.path),
          got: showValue(issue.input),
          expected: describeShape(issue),
          remedy: 'see the props of StreamJob',
        },
      ];
  }
}

function toRuleProblem(
  path: readonly PropertyKey[],
  input: unknown,
  params: Readonly<Record<string, unknown>> | undefined,
): Problem {
  const { code, expected, remedy } = params ?? {};
  return {
    code: String(code),
    name: writePath(path),
    got: showValue(input),
    expected: String(expected),
    remedy: String(remedy),
  };
}

function toUnknownFieldProblem(
  path: readonly PropertyKey[],
  key: string,
  input: Readonly<Record<string, unknown>> | undefined,
): Problem {
  const reason = REFUSED_SETTINGS.get(key);
  return {
    code: reason === undefined ? 'unknown-property' : 'refused-setting',
    name: writePath([...path, key]),
    got: showValue(input?.[key]),
    expected: 'no such property',
    remedy: reason ?? 'correct its spelling or remove it',
  };
}

function describeShape(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_union' && 'options' in issue && Array.isArray(issue.options)) {
    return `one of ${issue.options.map((option) => showValue(option)).join(', ')}`;
  }
  if (issue.code !== 'invalid_type') return issue.message;
  return issue.expected === 'array' ? 'a list' : 'an object';
}

function writePath(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) =>
      typeof part === 'number'
        ? `${text}[${part}]`
        : text === ''
          ? String(part)
          : `${text}.${String(part)}`,
    '',
  );
}
