import type { RestorePlan } from '../../shared/composition/aws/request-steps.ts';
import { formatAge, formatBytes, formatFacts, formatTime } from '../table.ts';

export interface RestoreAllowances {
  readonly allowNonRestoredState: boolean;
  readonly acceptGap: boolean;
}

/** What a restore would start from, and all that stands against it. */
export function formatPlan(plan: RestorePlan): string {
  const { kind, number, label, readAtMs, hold, present, differences, gaps } = plan;
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
    ...listMissing(plan).map((line) => ['missing', line] as const),
  ];
  return formatFacts(facts);
}

/** What stands against it although it is allowed what it is; each as a line. */
export function findObstacles(
  plan: RestorePlan,
  { allowNonRestoredState, acceptGap }: RestoreAllowances,
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
    ...listMissing(plan),
  ];
}

function listMissing({ missing: { files, examples } }: RestorePlan): string[] {
  if (files === 0) return [];
  const more = files > examples.length ? `, and ${files - examples.length} more` : '';
  return [`files are not in the bucket, take another manifest: ${examples.join(', ')}${more}`];
}
