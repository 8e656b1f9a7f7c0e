import { styleText } from 'node:util';
import type { Command } from 'commander';
import { addJobFlags, withJob, type JobFlags } from '../job-flags.ts';
import { formatAge, formatBytes, formatFacts, formatTable, formatTime } from '../table.ts';
import { readStatus, type ChannelStatus, type JobStatus } from './job-status.ts';

/**
 * `holdfast status`: exit code 1 where the job does not process records (it is not there, being created, or held), or its last
 * checkpoint has failed.
 */
export function addStatusCommand(program: Command): void {
  addJobFlags(program.command('status'))
    .description('tell how a deployed job is: its generation, its channels, its checkpoints')
    .action(async (flags: JobFlags) => {
      process.exitCode = await status(flags);
    });
}

async function status(flags: JobFlags): Promise<number> {
  const found = await withJob(flags, readStatus);
  if (found === undefined) {
    console.error(
      `holdfast: job ${flags.job} has no item in control table ${flags.controlTable}; deploy it first, or name another table`,
    );
    return 1;
  }
  console.log(flags.json ? JSON.stringify(found, undefined, 2) : formatStatus(found));
  return found.isWell ? 0 : 1;
}

export function formatStatus(found: JobStatus): string {
  const { hold, checkpoints } = found;
  const { last, retained, savepoints, pending, failures, lastFailure } = checkpoints;
  const nowMs = Date.now();
  const state =
    hold === undefined
      ? found.status
      : `held by ${hold.kind} ${hold.owner} since ${formatTime(hold.sinceMs)}`;
  const colour = found.isWell ? 'green' : 'red';
  const facts = formatFacts([
    ['job', found.job],
    ['state', styleText(colour, state, { stream: process.stdout })],
    ['generation', found.generation === 0 ? 'none yet' : String(found.generation)],
    [
      'last checkpoint',
      last === undefined
        ? 'none'
        : `${last.number}, ${formatAge(nowMs - last.completedAtMs)} ago, ${formatBytes(last.bytes)}`,
    ],
    ['retained', `${retained} checkpoints, ${savepoints} savepoints`],
    ...(pending.length === 0 ? [] : [['in the making', pending.join(', ')] as const]),
    ...(failures === 0
      ? []
      : [['failures', `${failures} in a row; ${lastFailure ?? 'unknown'}`] as const]),
  ]);
  return `${facts}\n\n${formatChannels(found.channels)}`;
}

function formatChannels(channels: readonly ChannelStatus[]): string {
  if (channels.length === 0) return 'no channel has committed anything yet';
  return formatTable(
    [
      { heading: 'CHANNEL' },
      { heading: 'STATE' },
      { heading: 'LAG', isNumber: true },
      { heading: 'LAST COMMIT', isNumber: true },
      { heading: 'WATERMARK' },
    ],
    channels.map((channel) => [
      channel.channel,
      describeState(channel),
      channel.lagMs === undefined ? '-' : formatAge(channel.lagMs),
      `${formatAge(channel.committedAgoMs)} ago`,
      formatWatermark(channel.watermark),
    ]),
  );
}

function describeState({ isFinished, fence, isExact }: ChannelStatus): string {
  if (fence !== undefined) return 'fenced';
  if (isFinished) return 'finished';
  return isExact ? 'reading' : 'reading, keys ahead';
}

/** The end of time is no date. */
function formatWatermark(watermark: number | undefined): string {
  if (watermark === undefined) return '-';
  return Number.isNaN(new Date(watermark).getTime()) ? 'end of time' : formatTime(watermark);
}
