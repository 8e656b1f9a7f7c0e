import { validationError } from './dynamodb-errors.ts';
import type { BoundStatement } from './partiql-binding.ts';
import type { Failure } from './partiql-results.ts';

const statementsMax = 25;

export function assertBatchSize(count: number): void {
  if (count >= 1 && count <= statementsMax) return;
  throw validationError(
    `1 validation error detected: Value at 'statements' failed to satisfy constraint: ` +
      `Member must have length between 1 and ${statementsMax}, got ${count}`,
  );
}

export function assertDistinct(bound: readonly (BoundStatement | Failure)[]): void {
  const seen = new Set<string>();
  for (const statement of bound) {
    if (statement.kind === 'failed') continue;
    const identity = `${statement.table.TableName}/${statement.key}`;
    if (seen.has(identity)) {
      throw validationError('Provided list of item keys contains duplicates');
    }
    seen.add(identity);
  }
}

/** Whether the batch reads; a batch that does both is refused. */
export function assertUniform(bound: readonly (BoundStatement | Failure)[]): boolean {
  const reads = bound.filter(({ kind }) => kind === 'read').length;
  const writes = bound.filter(({ kind }) => kind === 'write').length;
  if (reads > 0 && writes > 0) {
    throw validationError(
      'Statements in a batch must be all reads or all writes: ' +
        `got ${reads} reads and ${writes} writes`,
    );
  }
  return reads > 0;
}

/** What AWS returns for it in a batch is not documented. */
export function refuseReturning(bound: BoundStatement | Failure): BoundStatement | Failure {
  if (bound.kind !== 'write' || bound.write.data.ReturnValues === undefined) return bound;
  const error = validationError('this emulator has no RETURNING in a batch');
  return { kind: 'failed', table: bound.table.TableName, units: 0, error };
}
