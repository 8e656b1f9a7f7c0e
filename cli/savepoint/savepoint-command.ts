import { InvalidArgumentError, type Command } from 'commander';
import type {
  JobDescription,
  RestorePlan,
  VerifiedFiles,
} from '../../shared/composition/aws/request-steps.ts';
import { savepointLabelPattern } from '../../shared/runtime/object-names.ts';
import { confirm } from '../flush/confirm.ts';
import { fromBackupFlag, inspectBackup, listObjects } from '../restore/inspect-backup.ts';
import { formatPlan } from '../restore/restore-plan.ts';
import { formatBytes, formatTable, formatTime } from '../table.ts';
import { startAlone } from '../workflow/start-alone.ts';
import {
  addWorkflowFlags,
  nameExecution,
  withWorkflows,
  type WorkflowClient,
  type WorkflowFlags,
} from '../workflow/workflow-client.ts';

interface CreateFlags extends WorkflowFlags {
  readonly savepointWorkflow: string;
  readonly note: string;
  readonly tag: Readonly<Record<string, string>>;
  readonly stop: boolean;
}

interface VerifyFlags extends WorkflowFlags {
  readonly fromBackup: boolean;
}

interface DeleteFlags extends WorkflowFlags {
  readonly yes: boolean;
}

/** `holdfast savepoint create|list|show|verify|delete`. Exit code 1 where it is refused or fails. */
export function addSavepointCommand(program: Command): void {
  const command = program
    .command('savepoint')
    .description(
      'make and look after the savepoints of a job: they stay until somebody deletes them',
    );
  addWorkflowFlags(command.command('create'), 'savepoint-workflow')
    .description('make a savepoint')
    .argument('<label>', 'its name', readLabel)
    .option('--note <text>', 'what it is for', '')
    .option('--tag <key=value>', 'a tag; may be given more than once', readTag, {})
    .option('--stop', 'the job stands still at the savepoint, until resume or a restore', false)
    .action(async (label: string, flags: CreateFlags) => {
      process.exitCode = await withWorkflows(flags, (client) => create(client, label, flags));
    });
  addWorkflowFlags(command.command('list'))
    .description('list the savepoints of a job, oldest first')
    .action(async (flags: WorkflowFlags) => {
      process.exitCode = await withWorkflows(flags, (client) => list(client, flags));
    });
  addWorkflowFlags(command.command('show'))
    .description('tell what a savepoint is of, and what would stand against a restore from it')
    .argument('<label>', 'its name', readLabel)
    .action(async (label: string, flags: WorkflowFlags) => {
      process.exitCode = await withWorkflows(flags, (client) => show(client, label, flags));
    });
  addWorkflowFlags(command.command('verify'))
    .description('read every file of a savepoint back, with all checksums')
    .argument('<label>', 'its name', readLabel)
    .option(...fromBackupFlag, false)
    .action(async (label: string, flags: VerifyFlags) => {
      process.exitCode = await withWorkflows(flags, (client) =>
        flags.fromBackup ? verifyCopies(client, label, flags) : verify(client, label, flags),
      );
    });
  addWorkflowFlags(command.command('delete'))
    .description('delete a savepoint, with its files')
    .argument('<label>', 'its name', readLabel)
    .option('--yes', 'do not ask', false)
    .action(async (label: string, flags: DeleteFlags) => {
      process.exitCode = await withWorkflows(flags, (client) => remove(client, label, flags));
    });
}

function readLabel(text: string): string {
  if (savepointLabelPattern.test(text)) return text;
  throw new InvalidArgumentError('expected up to 100 letters, digits, ".", "_" and "-"');
}

function readTag(
  text: string,
  before: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const [key, ...rest] = text.split('=');
  if (key !== undefined && key !== '' && rest.length > 0) {
    return { ...before, [key]: rest.join('=') };
  }
  throw new InvalidArgumentError('expected <key>=<value>');
}

function create(
  client: WorkflowClient,
  label: string,
  { savepointWorkflow: workflow, note, tag: tags, stop: stops, json }: CreateFlags,
): Promise<number> {
  const input = { label, note, tags, stops };
  return startAlone(client, { workflow, name: nameExecution(label), input, json });
}

async function list(client: WorkflowClient, { json }: WorkflowFlags): Promise<number> {
  const { manifests } = await client.ask<JobDescription>('job.describe', {});
  const savepoints = manifests.filter(({ kind }) => kind === 'savepoint');
  if (json) {
    console.log(JSON.stringify(savepoints, undefined, 2));
    return 0;
  }
  console.log(
    formatTable(
      [
        { heading: 'SAVEPOINT' },
        { heading: 'GENERATION', isNumber: true },
        { heading: 'SIZE', isNumber: true },
        { heading: 'COMPLETED' },
      ],
      savepoints.map(({ label, generation, bytes, completedAtMs }) => [
        ...[label, String(generation), formatBytes(bytes), formatTime(completedAtMs)],
      ]),
    ),
  );
  return 0;
}

async function show(
  client: WorkflowClient,
  label: string,
  { json }: WorkflowFlags,
): Promise<number> {
  const ask = { from: label, restore: 'show', areTablesLost: false };
  const plan = await client.ask<RestorePlan>('restore.check', ask);
  console.log(json ? JSON.stringify(plan, undefined, 2) : formatPlan(plan));
  return 0;
}

async function verify(
  client: WorkflowClient,
  label: string,
  { json }: WorkflowFlags,
): Promise<number> {
  let verified: VerifiedFiles = { isDone: false, nextFile: 0, files: 0, bytes: 0 };
  // Each call comes some files further.
  while (!verified.isDone) {
    verified = await client.ask<VerifiedFiles>('savepoint.inspect', { label, verified });
  }
  const { files, bytes } = verified;
  console.log(
    json
      ? JSON.stringify({ label, files, bytes }, undefined, 2)
      : `savepoint ${label} is sound: ${files} files, ${formatBytes(bytes)}`,
  );
  return 0;
}

/** Sound is what has a sound copy somewhere. */
async function verifyCopies(
  client: WorkflowClient,
  label: string,
  { json }: WorkflowFlags,
): Promise<number> {
  const { objects, fellBack, lost } = await inspectBackup(client, label, false);
  if (json) {
    console.log(JSON.stringify({ label, objects, fellBack, lost }, undefined, 2));
  } else {
    for (const name of listObjects(fellBack)) console.log(`from backup: ${name}`);
    for (const name of listObjects(lost)) console.error(`holdfast: no sound copy: ${name}`);
    const verdict = lost.objects === 0 ? 'can be restored from its copies' : 'is lost';
    console.log(
      `savepoint ${label} ${verdict}: ${objects} objects, ${fellBack.objects} of them from the backup alone`,
    );
  }
  return lost.objects === 0 ? 0 : 1;
}

async function remove(
  client: WorkflowClient,
  label: string,
  { yes, json }: DeleteFlags,
): Promise<number> {
  if (!yes && !(await confirm(`This deletes savepoint ${label} for ever. Go on?`))) {
    console.error('holdfast: nothing was deleted');
    return 1;
  }
  await client.ask('savepoint.delete', { label });
  console.log(json ? JSON.stringify({ deleted: label }) : `savepoint ${label} is deleted`);
  return 0;
}
