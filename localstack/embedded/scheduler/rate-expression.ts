const unitMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

export const RATE_RULE = 'rate(<n> minutes), rate(<n> hours) or rate(<n> days)';

/** The interval of a rate expression, ms; undefined for any other text, `cron(…)` and `at(…)` among them. */
export function parseRate(expression: string): number | undefined {
  const match = /^rate\((\d{1,7}) (minute|hour|day)(s?)\)$/.exec(expression);
  if (match === null) return undefined;
  const [, digits, unit, plural] = match;
  const value = Number(digits);
  // EventBridge Scheduler takes "1 minutes", too; nothing that CDK writes needs it.
  if (value < 1 || (value === 1) === (plural === 's')) return undefined;
  return value * unitMs[unit as keyof typeof unitMs];
}
