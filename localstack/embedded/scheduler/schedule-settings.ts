import type { PropertyReader } from '../template/property-reader.ts';
import type { TemplateValue } from '../template/template-value.ts';
import { parseRate, RATE_RULE } from './rate-expression.ts';

/** One schedule as its template wants it. */
export interface ScheduleSettings {
  readonly intervalMs: number;
  readonly isEnabled: boolean;
  /** JSON text with context attributes still in it; undefined for the event that the service makes itself. */
  readonly input: string | undefined;
  readonly retryAttemptsMax: number;
  readonly eventAgeMsMax: number;
}

/** Reads and checks the properties of an `AWS::Scheduler::Schedule`, its names and ARNs excepted. */
export function readScheduleSettings(properties: PropertyReader): ScheduleSettings {
  const intervalMs = parseRate(properties.text('ScheduleExpression'));
  if (intervalMs === undefined) {
    throw properties.refuse(
      'ScheduleExpression',
      RATE_RULE,
      'use a rate; cron and one-time schedules do not run locally: invoke their function, or fire them by hand',
    );
  }
  const window = properties.object('FlexibleTimeWindow');
  if (window === undefined) {
    throw properties.refuse('FlexibleTimeWindow', 'an object with a Mode');
  }
  // Only OFF: within a flexible window nobody could tell when to look for what the schedule does.
  window.choice('Mode', ['OFF'], 'OFF');
  const target = properties.object('Target');
  const policy = target?.object('RetryPolicy');
  return {
    intervalMs,
    isEnabled: properties.choice('State', ['ENABLED', 'DISABLED'], 'ENABLED') === 'ENABLED',
    input: target === undefined ? undefined : readInput(target),
    // What the service does when the template says nothing.
    retryAttemptsMax: policy?.integerOr('MaximumRetryAttempts', { min: 0, max: 185 }, 185) ?? 185,
    eventAgeMsMax:
      1_000 *
      (policy?.integerOr('MaximumEventAgeInSeconds', { min: 60, max: 86_400 }, 86_400) ?? 86_400),
  };
}

function readInput(target: PropertyReader): string | undefined {
  const input = target.textOr('Input', undefined);
  if (input === undefined) return undefined;
  try {
    JSON.parse(input) as TemplateValue;
  } catch {
    throw target.refuse('Input', 'JSON text', 'Lambda takes nothing else');
  }
  return input;
}
