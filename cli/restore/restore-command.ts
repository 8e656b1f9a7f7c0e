import { InvalidArgumentError, type Command } from 'commander';
import type { JobDescription, RestorePlan } from '../../shared/composition/aws/request-steps.ts';
import { HoldfastError } from '../../shared/core/errors.ts';
import {
  addWorkflowFlags,
  nameExecution,
  withWorkflows,
  type WorkflowClient,
} from '../workflow/workflow-client.ts';
import { addBeginFlags, beginRestore, type BeginFlags } from './begin-restore.ts';
import { fromBackupFlag, inspectBackup } from './inspect-backup.ts';

interface RestoreFlags extends BeginFlags {
  readonly tablesLost: boolean;
  readonly fromBackup: boolean;
  readonly undo: boolean;
  /** ms since the epoch. */
  readonly toTime?: number;
  /** Shard → sequence number. */
  readonly toPosition?: ReadonlyMap<string, string>;
}

/** `holdfast restore`: exit code 1 where it is refused, not confirmed, or fails. */
export function addRestoreCommand(program: Command): void {
  const command = addWorkflowFlags(program.command('restore'), 'restore-workflow')
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
    .option('--tables-lost', 'make the job again whose tables are lost, from its bucket', false)
    .option(...fromBackupFlag, false);
  addBeginFlags(command, 'restore').action(
    async (from: string | undefined, flags: RestoreFlags) => {
      const { undo, toTime, toPosition } = flags;
      const ways = [from !== undefined, undo, toTime !== undefined, toPosition !== undefined];
      if (ways.filter((isGiven) => isGiven).length !== 1) {
        command.error('error: give either [from], --undo, --to-time or --to-position');
      }
      process.exitCode = await withWorkflows(flags, (client) => restore(client, from, flags));
    },
  );
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
  return beginRestore(client, flags, {
    ...{ plan, copies, name, order: { areTablesLost, fromBackup } },
    refusal: 'the job cannot be restored from it',
    announcement: `This holds job ${plan.job}, and brings it back in a new generation.`,
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
