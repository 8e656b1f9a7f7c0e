import type { InspectedCopies } from '../../shared/composition/aws/inspect-copies.ts';
import type { RestorePlan } from '../../shared/composition/aws/request-steps.ts';
import { listObjects } from './inspect-backup.ts';
import { formatAge, formatBytes, formatFacts, formatTime } from '../table.ts';

export interface RestoreAllowances {
  readonly allowNonRestoredState: boolean;
  readonly acceptGap: boolean;
}

/**
 * What a restore would start from, and all that stands against it.
 *
 * @param copies what was found of its objects, where the backup is read, too
 */
export function formatPlan(plan: RestorePlan, copies?: InspectedCopies): string {
  const { kind, number, label, readAtMs, hold, present, differences, gaps, warnings } = plan;
  const tags = Object.entries(plan.tags).map(([key, value]) => `${key}=${value}`);
  const facts: (readonly [string, string])[] = [
    ['job', `${plan.job}, in generation ${present === 0 ? 'none' : present}`],
    ...(plan.cloned === '' ? [] : [['clone of', plan.cloned] as const]),
    ['from', kind === 'savepoint' ? `savepoint ${label}` : `${kind} ${number}`],
    ['object', plan.object],
    ['generation', String(plan.generation)],
    ['cut', `${formatTime(readAtMs)}, ${formatAge(Date.now() - readAtMs)} ago`],
    ['size', `${formatBytes(plan.bytes)}, ${plan.channels} channels`],
    ...(plan.note === '' ? [] : [['note', plan.note] as const]),
    ...(tags.length === 0 ? [] : [['tags', tags.join(', ')] as const]),
    ...(hold === null
      ? []
      : [['hold', `${hold.kind} ${hold.owner} since ${formatTime(hold.sinceMs)}`] as const]),
    ...differences.map(({ text, remedy }) => ['difference', `${text}: ${remedy}`] as const),
    ...gaps.map((gap) => ['gap', gap] as const),
    ...warnings.map((warning) => ['warning', warning] as const),
    ...listMissing(plan).map((line) => ['missing', line] as const),
    ...(copies === undefined
      ? []
      : [
          ...listObjects(copies.fellBack).map((name) => ['from backup', name] as const),
          ...listObjects(copies.lost).map((name) => ['lost', name] as const),
        ]),
  ];
  return formatFacts(facts);
}

/** What stands against it although it is allowed what it is; each as a line. */
export function findObstacles(
  plan: RestorePlan,
  { allowNonRestoredState, acceptGap }: RestoreAllowances,
  copies?: InspectedCopies,
): string[] {
  const { differences, gaps } = plan;
  return [
    ...differences
      .filter(({ isLoss }) => !(isLoss && allowNonRestoredState))
      .map(({ text, remedy, isLoss }) =>
        isLoss ? `${text}: ${remedy} with --allow-non-restored-state` : `${text}: ${remedy}`,
      ),
    ...(acceptGap
      ? []
      : gaps.map((gap) => `${gap}: go on without those records with --accept-gap`)),
    ...(copies === undefined ? listMissing(plan) : listLost(copies)),
  ];
}

function listLost({ lost }: InspectedCopies): string[] {
  if (lost.objects === 0) return [];
  return [
    `neither the bucket nor the backup has a sound copy, take another manifest: ${listObjects(lost).join(', ')}`,
  ];
}

function listMissing({ missing: { files, examples } }: RestorePlan): string[] {
  if (files === 0) return [];
  const more = files > examples.length ? `, and ${files - examples.length} more` : '';
  return [
    `files are not in the bucket, take another manifest, or a copy with --from-backup: ${examples.join(', ')}${more}`,
  ];
}
