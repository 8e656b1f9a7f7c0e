import { describe, expect, it } from 'vitest';

import { parseRate } from '../../../../localstack/embedded/scheduler/rate-expression.ts';

describe('a rate', () => {
  it.each([
    ['rate(1 minute)', 60_000],
    ['rate(5 minutes)', 300_000],
    ['rate(1 hour)', 3_600_000],
    ['rate(12 hours)', 43_200_000],
    ['rate(1 day)', 86_400_000],
    ['rate(365 days)', 31_536_000_000],
  ])('is read from %s', (expression, intervalMs) => {
    expect(parseRate(expression)).toBe(intervalMs);
  });

  it.each([
    'rate(0 minutes)',
    'rate(1 minutes)',
    'rate(2 minute)',
    'rate(-1 minutes)',
    'rate(1.5 hours)',
    'rate(30 seconds)',
    'rate(5 weeks)',
    'rate(5minutes)',
    'rate(5 minutes) ',
    'Rate(5 minutes)',
    'cron(0 12 * * ? *)',
    'at(2030-01-01T00:00:00)',
    '',
  ])('is not read from %j', (expression) => {
    expect(parseRate(expression)).toBeUndefined();
  });
});
