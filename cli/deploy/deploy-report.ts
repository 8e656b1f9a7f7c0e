import type { WayBack } from './way-back.ts';

/** How a deployment went, as `--json` prints it. */
export interface DeployReport {
  readonly stack: string;
  readonly job: string;
  /**
   * - `deployed`: and it goes well
   * - `refused`, `declined`: nothing was changed
   * - `failed`: cdk did not deploy it
   * - `interrupted`: cdk was stopped by Ctrl-C or SIGTERM
   * - `trouble`: it is deployed, and does not go well
   * - `rolled-back`: the job is as it was before
   */
  readonly outcome:
    'deployed' | 'refused' | 'declined' | 'failed' | 'interrupted' | 'trouble' | 'rolled-back';
  readonly reasons: readonly string[];
  readonly notes: readonly string[];
  /** That was made before it; null for none. */
  readonly savepoint: string | null;
  readonly deletedSavepoints: readonly string[];
  /** Channels in which the new code has committed, and those that had nothing to commit; null where nobody has watched. */
  readonly channels: { readonly committed: number; readonly quiet: number } | null;
  readonly wayBack: WayBack | null;
  /** What has interrupted it. */
  readonly signal?: NodeJS.Signals;
}

export function reportOf(
  stack: string,
  job: string,
  outcome: DeployReport['outcome'],
  known: Partial<DeployReport> = {},
): DeployReport {
  return {
    ...{ stack, job, outcome, reasons: [], notes: [], savepoint: null },
    ...{ deletedSavepoints: [], channels: null, wayBack: null },
    ...known,
  };
}

/** What a person is told at the end: results, and troubles. */
export function formatReport(report: DeployReport): { readonly out: string; readonly err: string } {
  const { stack, job, outcome, reasons, savepoint, deletedSavepoints, channels, wayBack } = report;
  const list = (lines: readonly string[]): string => lines.map((line) => `\n- ${line}`).join('');
  switch (outcome) {
    case 'deployed': {
      const { committed, quiet } = channels ?? { committed: 0, quiet: 0 };
      const units =
        committed === 0
          ? 'no channel has had new records: the new code has processed nothing yet'
          : `${committed} channels have committed units by the new code, ${quiet} have had nothing to commit`;
      const deleted =
        deletedSavepoints.length === 0
          ? ''
          : `\nsavepoints of earlier deployments deleted: ${deletedSavepoints.join(', ')}`;
      const kept = savepoint === null ? '' : `\nsavepoint of before: ${savepoint}`;
      return {
        out: `job ${job} is deployed with stack ${stack}: ${units}, a checkpoint is complete, no new dead letters${kept}${deleted}`,
        err: '',
      };
    }
    case 'refused':
      return {
        out: '',
        err: `holdfast: stack ${stack} is not deployed, nothing was changed:${list(reasons)}`,
      };
    case 'declined':
      return { out: '', err: 'holdfast: nothing was changed' };
    case 'rolled-back':
      return {
        out: '',
        err: `holdfast: job ${job} was deployed, and is as it was before: ${wayBack?.why ?? ''}. What was wrong:${list(reasons)}`,
      };
    case 'failed':
    case 'interrupted':
    case 'trouble': {
      const what = {
        failed: `stack ${stack} is not deployed`,
        interrupted: `the deployment of stack ${stack} was interrupted; CloudFormation may go on with it`,
        trouble: `stack ${stack} is deployed, and does not go well`,
      }[outcome];
      return { out: '', err: `holdfast: ${what}:${list(reasons)}${formatWayBack(wayBack)}` };
    }
  }
}

function formatWayBack(wayBack: WayBack | null): string {
  if (wayBack === null) return '';
  const { why, commands } = wayBack;
  const lines = commands.map((command) => `\n  ${command}`).join('');
  return `\n\nThe way back: ${why}${lines === '' ? '' : `\n${lines}`}`;
}
