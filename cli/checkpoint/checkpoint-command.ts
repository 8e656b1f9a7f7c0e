import { InvalidArgumentError, type Command } from 'commander';
import { readSettings } from '../../shared/composition/aws/coordinator-handler.ts';
import { CHECKPOINTING_DEFAULTS } from '../../shared/config/checkpointing.ts';
import { channelId } from '../../shared/core/channel.ts';
import { describeThrown, isHoldfastError } from '../../shared/core/errors.ts';
import type { Manifest } from '../../shared/core/manifest.ts';
import type { ManifestReference } from '../../shared/core/registry.ts';
import { readRegistry } from '../../shared/runtime/checkpoint/change-registry.ts';
import {
  finishCheckpoint,
  triggerCheckpoint,
} from '../../shared/runtime/checkpoint/take-checkpoint.ts';
import type { CheckpointPorts } from '../../shared/runtime/checkpoint/manifest-facts.ts';
import { readManifest } from '../../shared/runtime/checkpoint/take-manifest.ts';
import { addFunctionFlag, addJobFlags, withJob, type JobFlags } from '../job-flags.ts';
import { formatBytes, formatFacts, formatTable, formatTime } from '../table.ts';

/** `holdfast checkpoint trigger|list|show`. Exit code 1 where no checkpoint can be triggered now, or there is none of a number. */
export function addCheckpointCommand(program: Command): void {
  const command = program
    .command('checkpoint')
    .description('make and look at the recovery points of a deployed job');
  addFunctionFlag(addJobFlags(command.command('trigger')))
    .description('make a checkpoint now, whatever the interval; not while the job is held')
    .action(async (flags: JobFlags) => {
      process.exitCode = await withJob(flags, (ports) => trigger(ports, flags));
    });
  addJobFlags(command.command('list'))
    .description('list complete checkpoints, savepoints and undo points, oldest first')
    .action(async (flags: JobFlags) => {
      process.exitCode = await withJob(flags, (ports) => list(ports, flags));
    });
  addJobFlags(command.command('show'))
    .description('tell what a checkpoint, savepoint or undo point consists of')
    .argument('<number>', 'its number, as list gives it', readNumber)
    .action(async (number: number, flags: JobFlags) => {
      process.exitCode = await withJob(flags, (ports) => show(ports, number, flags));
    });
}

function readNumber(text: string): number {
  if (/^[1-9]\d{0,11}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('expected a whole number from 1');
}

/** Completes it by the same code as the coordinator, which goes on with it where this is stopped. */
async function trigger(ports: CheckpointPorts, { json }: JobFlags): Promise<number> {
  const settings = readSettings(CHECKPOINTING_DEFAULTS);
  let work;
  try {
    work = await triggerCheckpoint(ports, settings, { isManual: true });
  } catch (thrown) {
    if (!isHoldfastError(thrown, 'conflict')) throw thrown;
    console.error(`holdfast: ${describeThrown(thrown)}`);
    return 1;
  }
  const complete = await finishCheckpoint(ports, work);
  if (complete === undefined) {
    console.error(
      `holdfast: checkpoint ${work.number} was taken away before it was complete; try again`,
    );
    return 1;
  }
  console.log(
    json
      ? JSON.stringify(complete, undefined, 2)
      : `checkpoint ${complete.number} is complete: ${formatBytes(complete.bytes)} in ${complete.completedAtMs - work.sinceMs} ms`,
  );
  return 0;
}

async function list(ports: CheckpointPorts, { json }: JobFlags): Promise<number> {
  const { complete, pins } = await readRegistry(ports);
  const listed = complete.map((reference) => ({
    ...reference,
    pinnedBy: pins.filter(({ object }) => object === reference.object).map(({ owner }) => owner),
  }));
  if (json) console.log(JSON.stringify(listed, undefined, 2));
  else console.log(listed.length === 0 ? 'there is none yet' : formatList(listed));
  return 0;
}

function formatList(
  listed: readonly (ManifestReference & { readonly pinnedBy: readonly string[] })[],
): string {
  return formatTable(
    [
      { heading: 'NUMBER', isNumber: true },
      { heading: 'GENERATION', isNumber: true },
      { heading: 'KIND' },
      { heading: 'COMPLETE SINCE' },
      { heading: 'SIZE', isNumber: true },
      { heading: 'EXACT' },
      { heading: 'LABEL' },
      { heading: 'READ BY' },
    ],
    listed.map(({ number, generation, kind, completedAtMs, bytes, isExact, label, pinnedBy }) => [
      String(number),
      String(generation),
      kind,
      formatTime(completedAtMs),
      formatBytes(bytes),
      isExact ? 'yes' : 'no',
      label,
      pinnedBy.join(', '),
    ]),
  );
}

async function show(ports: CheckpointPorts, number: number, { json }: JobFlags): Promise<number> {
  const { complete } = await readRegistry(ports);
  const reference = complete.find((one) => one.number === number);
  if (reference === undefined) {
    console.error(
      `holdfast: job ${ports.job} has no checkpoint ${number}; list what there is with: holdfast checkpoint list`,
    );
    return 1;
  }
  const manifest = await readManifest(ports, reference.object);
  console.log(
    json
      ? JSON.stringify({ reference, manifest }, undefined, 2)
      : formatManifest(reference, manifest),
  );
  return 0;
}

function formatManifest(reference: ManifestReference, manifest: Manifest): string {
  const files = manifest.runs.flatMap((run) => run.files);
  const segments = manifest.channels.reduce((sum, channel) => sum + channel.segments.length, 0);
  const facts = formatFacts([
    ['number', `${manifest.number}, ${manifest.kind}, generation ${manifest.generation}`],
    ...(manifest.label === '' ? [] : [['label', manifest.label] as const]),
    ...(manifest.note === '' ? [] : [['note', manifest.note] as const]),
    ['object', reference.object],
    ['triggered', formatTime(manifest.triggeredAtMs)],
    ['complete', formatTime(reference.completedAtMs)],
    ['exact', manifest.isExact ? 'yes' : 'no: a restore from it reads some records again'],
    ['size', `${formatBytes(manifest.totalBytes)}, ${formatBytes(manifest.newBytes)} of them new`],
    ['files', `${files.length} in ${manifest.runs.length} runs, and ${segments} segments`],
    ['keys', `${manifest.keysInRuns} in the runs`],
    ...manifest.operators.map(({ id, states, sinks }): [string, string] => [
      `operator ${id}`,
      [
        ...states.map(({ name, kind, version }) => `${name}: ${kind} state v${version}`),
        ...sinks.map(({ name, kind }) => `${name}: ${kind} sink`),
      ].join(', '),
    ]),
  ]);
  const channels = formatTable(
    [{ heading: 'CHANNEL' }, { heading: 'POSITION' }, { heading: 'SEGMENTS', isNumber: true }],
    manifest.channels.map(({ channel, progress, segments: some }) => [
      channelId(channel),
      progress.isFinished ? 'finished' : (progress.position?.sequence ?? 'nothing read'),
      String(some.length),
    ]),
  );
  return `${facts}\n\n${channels}`;
}
