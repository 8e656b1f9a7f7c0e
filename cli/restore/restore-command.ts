import { InvalidArgumentError, type Command } from 'commander';
import type { JobDescription, RestorePlan } from '../../shared/composition/aws/request-steps.ts';
import { HoldfastError } from '../../shared/core/errors.ts';
import { confirm } from '../flush/confirm.ts';
import { startAlone } from '../workflow/start-alone.ts';
import {
  addWorkflowFlags,
  nameExecution,
  withWorkflows,
  type WorkflowClient,
  type WorkflowFlags,
} from '../workflow/workflow-client.ts';
import { fromBackupFlag, inspectBackup } from './inspect-backup.ts';
import { findObstacles, formatPlan, type RestoreAllowances } from './restore-plan.ts';

/** Drills run in the same workflow, and beside anything. */
export const drillPrefix = 'drill-';

interface RestoreFlags extends WorkflowFlags, RestoreAllowances {
  readonly restoreWorkflow: string;
  readonly tablesLost: boolean;
  readonly fromBackup: boolean;
  readonly undo: boolean;
  /** ms since the epoch. */
  readonly toTime?: number;
  /** Shard → sequence number. */
  readonly toPosition?: ReadonlyMap<string, string>;
  readonly yes: boolean;
  readonly name?: string;
}

/** `holdfast restore`: exit code 1 where it is refused, not confirmed, or fails. */
export function addRestoreCommand(program: Command): void {
  addWorkflowFlags(program.command('restore'), 'restore-workflow')
    .description(
      'bring a job back to a checkpoint or savepoint, and from there on by its records to where it is now',
    )
    .argument(
      '[from]',
      'latest, the number of a checkpoint, the name of a savepoint, or the name of a manifest object',
    )
    .option('--undo', 'to where the last restore held the job', false)
    .option(
      '--to-time <time>',
      'to the last units whose records had arrived by a moment of the past, as 2025-01-31T12:00:00Z',
      readTime,
    )
    .option(
      '--to-position <shard=sequence>',
      'to the last unit of a shard that ends at or before a record; may be given for more than one, the others are taken at their newest unit',
      readPosition,
    )
    .option(
      '--allow-non-restored-state',
      'leave state behind that the code does not declare',
      false,
    )
    .option('--accept-gap', 'go on without records that have left the stream unread', false)
    .option('--tables-lost', 'make the job again whose tables are lost, from its bucket', false)
    .option(...fromBackupFlag, false)
    .option('--name <restore>', 'go on with a restore of this name that has not finished')
    .option('--yes', 'do not ask', false)
    .action(async (from: string | undefined, flags: RestoreFlags, command: Command) => {
      const { undo, toTime, toPosition } = flags;
      const ways = [from !== undefined, undo, toTime !== undefined, toPosition !== undefined];
      if (ways.filter((isGiven) => isGiven).length !== 1) {
        command.error('error: give either [from], --undo, --to-time or --to-position');
      }
      process.exitCode = await withWorkflows(flags, (client) => restore(client, from, flags));
    });
}

async function restore(
  client: WorkflowClient,
  given: string | undefined,
  flags: RestoreFlags,
): Promise<number> {
  const from = given ?? (await findFrom(client, flags));
  const name = nameExecution(`restore-${given ?? describeWay(flags)}`);
  const { tablesLost: areTablesLost, fromBackup } = flags;
  const copies = fromBackup ? await inspectBackup(client, from, areTablesLost) : undefined;
  const plan = await client.ask<RestorePlan>('restore.check', {
    ...{ from, restore: flags.name ?? name, areTablesLost, fromBackup },
  });
  console.error(formatPlan(plan, copies));
  const obstacles = findObstacles(plan, flags, copies);
  if (obstacles.length > 0) {
    console.error(`\nholdfast: the job cannot be restored from it:\n- ${obstacles.join('\n- ')}`);
    return 1;
  }
  const question = `\nThis holds job ${plan.job}, and brings it back in a new generation. Go on?`;
  if (!flags.yes && !(await confirm(question))) {
    console.error('holdfast: nothing was changed');
    return 1;
  }
  return startAlone(client, {
    ...{ workflow: flags.restoreWorkflow, name, json: flags.json },
    excludes: (running) => !running.startsWith(drillPrefix),
    input: {
      manifest: plan.object,
      restore: flags.name ?? name,
      allowNonRestoredState: flags.allowNonRestoredState,
      acceptsGaps: flags.acceptGap,
      ...{ areTablesLost, fromBackup },
    },
  });
}

function describeWay({ undo, toTime }: RestoreFlags): string {
  if (undo) return 'undo';
  return toTime === undefined ? 'position' : 'time';
}

async function findFrom(
  client: WorkflowClient,
  { toTime, toPosition }: RestoreFlags,
): Promise<string> {
  if (toTime !== undefined) {
    const ask = { timeMs: toTime };
    return (await client.ask<{ object: string }>('restore.cut-at-time', ask)).object;
  }
  if (toPosition === undefined) return findUndo(client);
  const ask = { sequences: Object.fromEntries(toPosition) };
  return (await client.ask<{ object: string }>('restore.cut-at-position', ask)).object;
}

/** @param before of the options before this one */
function readPosition(
  text: string,
  before: ReadonlyMap<string, string> | undefined,
): ReadonlyMap<string, string> {
  const [, shardId, sequence] = /^([A-Za-z0-9_.-]+)=(\d+)$/.exec(text) ?? [];
  if (shardId === undefined || sequence === undefined) {
    throw new InvalidArgumentError('expected <shard id>=<sequence number>.');
  }
  if (before?.has(shardId) === true) {
    throw new InvalidArgumentError(`shard ${shardId} has been given a position already.`);
  }
  return new Map([...(before ?? []), [shardId, sequence]]);
}

function readTime(text: string): number {
  const timeMs = Date.parse(text);
  // Without a zone it would mean another moment on another machine.
  if (Number.isFinite(timeMs) && /(Z|[+-]\d\d:?\d\d)$/i.test(text)) return timeMs;
  throw new InvalidArgumentError('expected a time with its zone, as 2025-01-31T12:00:00Z.');
}

/** The undo point of the last restore (R2). */
async function findUndo(client: WorkflowClient): Promise<string> {
  const { job, manifests } = await client.ask<JobDescription>('job.describe', {});
  const undo = manifests.findLast(({ kind }) => kind === 'undo');
  if (undo !== undefined) return undo.object;
  throw new HoldfastError(
    'invalid',
    `job ${job} was never restored; there is nothing to undo. List what there is with: holdfast checkpoint list`,
  );
}
