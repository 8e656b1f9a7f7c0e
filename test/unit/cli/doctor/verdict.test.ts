import { describe, expect, it } from 'vitest';
import type { Diagnosis, Finding, Need } from '../../../../cli/doctor/finding.ts';
import { formatReport } from '../../../../cli/doctor/format-report.ts';
import {
  judgeFailure,
  PreparationError,
  TimeLimitError,
} from '../../../../cli/doctor/judge-failure.ts';
import { judge } from '../../../../cli/doctor/verdict.ts';
import { HoldfastError } from '../../../../shared/core/errors.ts';
import { sdkError } from '../../adapters/fake-client.ts';

const row = (kind: Need['kind'], result: Finding['result']): Diagnosis => ({
  ...{ service: 's3', capability: `${kind} ${result}`, need: { kind, text: 'why' } },
  finding: {
    works: { result: 'works' } as const,
    differs: { result: 'differs', expected: 'one', got: 'another' } as const,
    missing: { result: 'missing', got: 'NotImplemented' } as const,
    untried: { result: 'untried', why: 'ECONNREFUSED' } as const,
  }[result],
});

describe('the verdict', () => {
  it.each<[number, string, readonly Diagnosis[]]>([
    [0, 'works', [row('needed', 'works')]],
    [0, 'adapts', [row('needed', 'works'), row('adapted', 'differs'), row('optional', 'missing')]],
    [0, 'does not mind', [row('needed', 'works'), row('optional', 'untried')]],
    [1, 'differs', [row('needed', 'works'), row('needed', 'differs')]],
    [1, 'is missing, whatever is not known', [row('needed', 'missing'), row('needed', 'untried')]],
    [2, 'could not be tried', [row('needed', 'works'), row('needed', 'untried')]],
  ])('is exit code %i where what is needed %s', (exitCode, _title, diagnoses) => {
    expect(judge(diagnoses).exitCode).toBe(exitCode);
  });

  it('is printed with what was expected, what came and what is left', () => {
    const diagnoses = [
      row('needed', 'differs'),
      row('adapted', 'missing'),
      row('needed', 'untried'),
    ];
    const text = formatReport({ diagnoses, verdict: judge(diagnoses), left: ['table t: denied'] });
    for (const part of [
      ...['needed: why', 'adapted to: why', 'expected one', 'came     another', 'NotImplemented'],
      ...['could not be tried', 'ECONNREFUSED', 'table t: denied', 'NOT USABLE: 1 thing'],
    ]) {
      expect(text).toContain(part);
    }
  });
});

describe('what a probe throws', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

  it.each<[Finding['result'], string, unknown]>([
    ['untried', 'nobody listens', refused],
    ['untried', 'nobody listens at any address', new AggregateError([refused])],
    ['untried', 'who asks is not let in', sdkError('AccessDeniedException', 400)],
    ['untried', 'there is no answer', sdkError('TimeoutError')],
    ['untried', 'something before it failed', new PreparationError('no role')],
    ['missing', 'the operation is not known', sdkError('UnknownOperationException', 404)],
    ['missing', 'the operation is not there', sdkError('InternalFailure', 501)],
    ['differs', 'the request is refused', sdkError('ValidationException', 400)],
    ['differs', 'it does not end', new TimeLimitError('no answer within 30 s')],
    ['differs', 'a bug of the endpoint', sdkError('InternalError', 500)],
  ])('means %s where %s', (result, _title, thrown) => {
    expect(judgeFailure(thrown).result).toBe(result);
    const wrapped = new HoldfastError('unavailable', 'cannot probe', { cause: thrown });
    expect(judgeFailure(wrapped).result).toBe(result);
  });
});
