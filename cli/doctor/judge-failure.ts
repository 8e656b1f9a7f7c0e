import { describeThrown } from '../../shared/core/errors.ts';
import type { Finding } from './finding.ts';

/** Says that the operation itself is not there. By the names of SDK errors. */
const unknownOperation =
  /^(UnknownOperation|NotImplemented|UnsupportedOperation|InvalidAction|MethodNotAllowed|NotSupported|ActionNotFound)/;

/** Says that nobody listened, or that who asked is not let in. */
const unheard =
  /^(AccessDenied|UnrecognizedClient|InvalidSignature|MissingAuthenticationToken|IncompleteSignature|ExpiredToken|CredentialsProviderError|InvalidClientTokenId|TimeoutError|NetworkingError|Throttling|TooManyRequests|AbortError)/;

/** A probe that took longer than it may. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError';
}

/** What a probe was about to do it on could not be made. */
export class PreparationError extends Error {
  override readonly name = 'PreparationError';
}

/**
 * What it means that a probe has thrown: nobody answered, so that nothing is known; the operation is not there; or it refuses
 * what AWS takes.
 */
export function judgeFailure(thrown: unknown): Finding {
  const root = rootOf(thrown);
  const said = describeFailure(root);
  if (root instanceof PreparationError) return { result: 'untried', why: root.message };
  if (root instanceof TimeLimitError) {
    return { result: 'differs', expected: 'an end', got: root.message };
  }
  const { name = '', $metadata, code } = root as SdkError;
  if (unheard.test(name) || code !== undefined) return { result: 'untried', why: said };
  if (unknownOperation.test(name) || $metadata?.httpStatusCode === 501) {
    return { result: 'missing', got: said };
  }
  return { result: 'differs', expected: 'an answer', got: said };
}

/** The name and the words of an error, in one line. */
export function describeFailure(thrown: unknown): string {
  const root = rootOf(thrown);
  const name = root instanceof Error && root.name !== 'Error' ? `${root.name}: ` : '';
  const text = describeThrown(root).replaceAll(/\s+/g, ' ').trim();
  return text === '' || text === name.slice(0, -2) ? name.slice(0, -2) : `${name}${text}`;
}

interface SdkError {
  readonly name?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
  /** Of errors of the network: `ECONNREFUSED` and so on. */
  readonly code?: string;
}

/** The adapters wrap what the SDK throws. Nodes of several tries are in an AggregateError without a message. */
function rootOf(thrown: unknown): unknown {
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return thrown.errors[0];
  if (thrown instanceof Error && thrown.name === 'HoldfastError' && thrown.cause !== undefined) {
    return rootOf(thrown.cause);
  }
  return thrown;
}
