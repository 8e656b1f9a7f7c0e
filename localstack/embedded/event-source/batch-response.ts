import type { InvocationResult } from '../lambda/invocation-result.ts';
import { compareSequenceNumbers } from './event-record.ts';

/** What an invocation's result means for its batch. */
export type BatchVerdict =
  | { readonly kind: 'succeeded' }
  /** The records before this index are done, it and all after it are delivered again. The index is at least 1. */
  | { readonly kind: 'partial'; readonly firstFailedIndex: number }
  /** The function ran and nothing of the batch is done; consumes a retry. */
  | { readonly kind: 'failed'; readonly why: string }
  /** The function did not run; consumes no retry. */
  | { readonly kind: 'not-invoked'; readonly why: string };

/** Reads a result by the rules of ReportBatchItemFailures, or by success alone if the mapping does not ask for reports. */
export function judgeBatch(
  sequenceNumbers: readonly string[],
  result: InvocationResult,
  reportsItemFailures: boolean,
): BatchVerdict {
  switch (result.kind) {
    case 'rejected':
      return { kind: 'not-invoked', why: result.errorMessage };
    case 'failed':
      return { kind: 'failed', why: `${result.errorType}: ${result.errorMessage}` };
    case 'success':
      return reportsItemFailures
        ? judgeResponse(sequenceNumbers, result.payload)
        : { kind: 'succeeded' };
  }
}

function judgeResponse(sequenceNumbers: readonly string[], payload: string): BatchVerdict {
  const response = payload === '' ? null : (JSON.parse(payload) as unknown);
  if (response === null) return { kind: 'succeeded' };
  if (typeof response !== 'object' || Array.isArray(response)) {
    return { kind: 'failed', why: `the response ${payload.slice(0, 100)} is not an object` };
  }
  // Any other key is as good as an empty response, as far as the documentation goes: a misspelt one loses data.
  const failures = (response as { batchItemFailures?: unknown }).batchItemFailures ?? [];
  if (!Array.isArray(failures)) {
    return { kind: 'failed', why: 'batchItemFailures is not a list' };
  }
  if (failures.length === 0) return { kind: 'succeeded' };

  const indexes = new Map(sequenceNumbers.map((sequenceNumber, index) => [sequenceNumber, index]));
  let lowest: string | undefined;
  for (const failure of failures as unknown[]) {
    const identifier = (failure as { itemIdentifier?: unknown } | null)?.itemIdentifier;
    if (typeof identifier !== 'string' || identifier === '') {
      return { kind: 'failed', why: 'an itemIdentifier is empty, null or missing' };
    }
    if (!indexes.has(identifier)) {
      return { kind: 'failed', why: `itemIdentifier "${identifier}" is not in the batch` };
    }
    if (lowest === undefined || compareSequenceNumbers(identifier, lowest) < 0) lowest = identifier;
  }
  const firstFailedIndex = indexes.get(lowest ?? '') ?? 0;
  return firstFailedIndex === 0
    ? { kind: 'failed', why: 'the first record of the batch was reported as failed' }
    : { kind: 'partial', firstFailedIndex };
}
