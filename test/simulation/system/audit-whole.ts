import { auditRetained } from './audit-manifests.ts';
import { auditRestored, auditUnswept } from './audit-restore.ts';
import { calmDown, sweepAll, takeCheckpoint } from './calm-world.ts';
import type { Stage } from './stage.ts';
import type { SystemWorld } from './system-world.ts';

/* What must hold of a job when nobody is at work on it any more. */

/** What a coordinator has met that does not pass by itself: nothing in a run whose bytes all come as they were. */
export function findFailures({ world: { telemetry }, plan: { corruptShare } }: Stage): string[] {
  if (corruptShare > 0) return [];
  return (
    telemetry.lines
      .filter(({ level, message }) => level === 'error' && / failed$/.test(message))
      .map(({ message, fields }) => `${message}: ${String(fields['reason'])}`)
      // Another coordinator has finished it, and a third has collected what it was made of.
      .filter((failure) => !/has no plan; it is over/.test(failure))
  );
}

/** Retention and most of the day after it: a late redelivery can still come. */
export function lateSeconds({ stream }: SystemWorld): number {
  return stream.incarnation.createdAtMs / 1000 + (stream.retentionHours + 23) * 3600;
}

/** All records are read, all that was late has landed, everything is swept, and one more checkpoint is taken. */
export async function auditWhole(world: SystemWorld): Promise<string[]> {
  await calmDown(world);
  const findings = await auditUnswept(world);
  await sweepAll(world);
  await takeCheckpoint(world);
  findings.push(...(await auditRetained(world)));
  return [...world.findings, ...findings, ...(await auditRestored(world))];
}
