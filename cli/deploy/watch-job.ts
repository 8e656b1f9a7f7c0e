import { setTimeout as sleep } from 'node:timers/promises';
import type { Manifest } from '../../shared/core/manifest.ts';
import { createProgressDisplay } from '../workflow/progress-display.ts';
import type { DeployedJob } from './deployed-job.ts';
import { judge, type Sight, type Verdict, type WatchRules } from './judge-watch.ts';
import { askDeployed, lookAtJob, type Before } from './look-at-job.ts';
import { interruptible } from './run-cdk.ts';

/** How often a job is looked at, ms. */
const pollMs = 2_000;

export interface Watched {
  readonly verdict: Exclude<Verdict, { readonly kind: 'wait' }>;
  readonly sight: Sight;
}

/**
 * Watches a job after it was deployed, until it is known whether it goes well.
 *
 * @param manifest the newest one of before; undefined where there was none
 */
export async function watchJob(
  deployed: DeployedJob,
  before: Before,
  rules: WatchRules,
  manifest: Pick<Manifest, 'operators' | 'maxParallelism'> | undefined,
): Promise<Watched> {
  const display = createProgressDisplay();
  const message = 'it is deployed, and nobody watches it any more; see: holdfast status';
  const watch = async (): Promise<Watched> => {
    const refusals = await askDeployed(deployed, manifest);
    for (;;) {
      const sight = await lookAtJob(deployed, before, refusals, rules);
      const nowMs = Date.now();
      const verdict = judge(before, sight, nowMs, rules);
      if (verdict.kind !== 'wait') return { verdict, sight };
      display.show({ state: `waiting for ${describeMissing(verdict.missing)}` });
      await sleep(Math.min(pollMs, rules.untilMs - nowMs));
    }
  };
  try {
    return await interruptible(message, watch, { onStop: () => display.end() });
  } finally {
    display.end();
  }
}

function describeMissing([first, ...others]: readonly string[]): string {
  return others.length === 0 ? String(first) : `${first} and ${others.length} more`;
}
