import type { LambdaFunction } from './lambda-function.ts';

/** Name, partial ARN (`123456789012:function:name`) or ARN; the one version that there is may be named. */
const functionName =
  /^(?:arn:[^:]+:lambda:[^:]+:)?(?:\d{12}:)?(?:function:)?([\w-]+)(?::\$LATEST)?$/;

/** The function that the Lambda API means by a FunctionName; undefined if there is none. */
export function resolveFunctionName(
  functions: Iterable<LambdaFunction>,
  text: string,
): LambdaFunction | undefined {
  const name = functionName.exec(text)?.[1];
  for (const candidate of functions) {
    if (candidate.name !== name) continue;
    return text.startsWith('arn:') && text.replace(/:\$LATEST$/, '') !== candidate.arn
      ? undefined
      : candidate;
  }
  return undefined;
}
