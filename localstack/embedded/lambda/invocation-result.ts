/** What became of one invocation. */
export type InvocationResult = SuccessfulInvocation | FailedInvocation | RejectedInvocation;

export interface SuccessfulInvocation {
  readonly kind: 'success';
  readonly requestId: string;
  /** The handler's return value as JSON; `null` if it returned nothing. */
  readonly payload: string;
}

/** The function was reached and gave no response. */
export interface FailedInvocation {
  readonly kind: 'failed';
  readonly reason: 'function-error' | 'init-error' | 'crash' | 'timeout' | 'response-too-large';
  readonly requestId: string;
  /** As Lambda names it, such as `Runtime.ExitError`, or the name of the error that was thrown. */
  readonly errorType: string;
  readonly errorMessage: string;
  /** Last lines that the environment printed. */
  readonly logTail: readonly string[];
}

/** The function was not reached. Such an error consumes no retry of an event source mapping. */
export interface RejectedInvocation {
  readonly kind: 'rejected';
  readonly reason: 'throttled' | 'payload-too-large' | 'stopped';
  readonly requestId: string;
  readonly errorMessage: string;
}

/** For logs and errors: one line, and what the function printed below it. */
export function describeResult(result: InvocationResult): string {
  switch (result.kind) {
    case 'success':
      return 'success';
    case 'failed':
      return [`${result.errorType}: ${result.errorMessage}`, ...result.logTail].join('\n  ');
    case 'rejected':
      return `${result.reason}: ${result.errorMessage}`;
  }
}
