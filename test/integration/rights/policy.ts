/*
 * Policies of roles as IAM judges them, as far as this project writes some: what is not understood here is refused, so that no
 * statement can mean more than it seems to.
 */

/** What somebody does, as IAM sees it. */
export interface Call {
  /** The role's name. */
  readonly role: string;
  /** Such as `dynamodb:GetItem`. */
  readonly action: string;
  /** An ARN. */
  readonly resource: string;
}

/** A right that a statement gives: one action on one pattern of ARNs. */
export interface Right extends Call {
  /** It counts only where a service acts for the role. */
  readonly isConditional: boolean;
}

/** The rights in a policy document whose intrinsic functions are resolved, for one role. */
export function readRights(role: string, document: unknown): Right[] {
  const { Statement, ...rest } = document as { Statement: Record<string, unknown>[] };
  refuseOthers(rest, ['Version']);
  return Statement.flatMap((statement) => {
    const { Effect, Action, Resource, Condition, ...others } = statement;
    refuseOthers(others, []);
    if (Effect !== 'Allow') throw new Error(`a statement has Effect ${String(Effect)}`);
    return listTexts(Action).flatMap((action) =>
      listTexts(Resource).map((resource) => ({
        ...{ role, action, resource, isConditional: Condition !== undefined },
      })),
    );
  });
}

/** Nothing here is asked for by a service with the rights of a role, so that conditional rights allow none of it. */
export function allows(right: Right, call: Call): boolean {
  return !right.isConditional && covers(right, call);
}

/** Whether a right is about a call, whatever its condition. */
export function covers(right: Right, { role, action, resource }: Call): boolean {
  return (
    right.role === role &&
    // Names of actions are the same in any case.
    matches(right.action.toLowerCase(), action.toLowerCase()) &&
    matches(right.resource, resource)
  );
}

/** `*` is any text, slashes too, and `?` one character. */
function matches(pattern: string, text: string): boolean {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 's').test(text);
}

function listTexts(value: unknown): string[] {
  const texts = [value].flat();
  if (texts.every((text) => typeof text === 'string')) return texts;
  throw new Error(`expected a text or a list of texts, got ${JSON.stringify(value)}`);
}

function refuseOthers(rest: object, known: readonly string[]): void {
  const others = Object.keys(rest).filter((name) => !known.includes(name));
  if (others.length > 0) throw new Error(`policies with ${others.join(', ')} are not understood`);
}
