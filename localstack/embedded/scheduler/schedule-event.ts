import { randomUUID } from 'node:crypto';

/** What one attempt of one run knows of itself. */
export interface ScheduleRunContext {
  readonly scheduleArn: string;
  readonly region: string;
  readonly accountId: string;
  /** When the schedule was due. */
  readonly scheduledAtMs: number;
  readonly executionId: string;
  /** From 1. */
  readonly attempt: number;
}

/**
 * The event that the target gets. The template's Input with its context attributes filled in, or without one the event of
 * a scheduled rule.
 *
 * Source: https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-schedule-context-attributes.html
 */
export function writeScheduleEvent(input: string | undefined, context: ScheduleRunContext): string {
  const time = formatTime(context.scheduledAtMs);
  if (input === undefined) {
    return JSON.stringify({
      version: '0',
      id: randomUUID(),
      'detail-type': 'Scheduled Event',
      source: 'aws.scheduler',
      account: context.accountId,
      time,
      region: context.region,
      resources: [context.scheduleArn],
      detail: '{}',
    });
  }
  return input
    .replaceAll('<aws.scheduler.schedule-arn>', context.scheduleArn)
    .replaceAll('<aws.scheduler.scheduled-time>', time)
    .replaceAll('<aws.scheduler.execution-id>', context.executionId)
    .replaceAll('<aws.scheduler.attempt-number>', String(context.attempt));
}

/** Whole seconds, as the service writes them. */
function formatTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
