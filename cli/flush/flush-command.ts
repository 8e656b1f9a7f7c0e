import type { Command } from 'commander';
import { createKinesisClient } from '../../shared/composition/aws/clients.ts';
import { openShardWriter } from '../../shared/composition/aws/stream-access.ts';
import { endOfStreamMs } from '../../shared/operator/windows/windowing.ts';
import { putHeartbeats } from '../../shared/runtime/send-heartbeats.ts';
import { confirm } from './confirm.ts';

interface FlushFlags {
  readonly stream: string;
  readonly yes: boolean;
  readonly json: boolean;
}

/**
 * `holdfast flush`: ends the event time of a bounded stream. Exit code 1 where it is not confirmed. Twice is as good as
 * once: nothing comes after the end.
 */
export function addFlushCommand(program: Command): void {
  program
    .command('flush')
    .description(
      'close all windows of all operators that read a stream, by a heartbeat at the end of time in every open shard. For bounded streams: the watermark of a shard never goes back, so every event that is put later is late',
    )
    .requiredOption('--stream <name>', 'the stream, by its name or ARN')
    .option('--yes', 'do not ask', false)
    .option('--json', 'print the result as JSON', false)
    .action(async (flags: FlushFlags) => {
      process.exitCode = await flush(flags);
    });
}

async function flush({ stream, yes, json }: FlushFlags): Promise<number> {
  const kinesis = createKinesisClient();
  try {
    const writer = openShardWriter(kinesis, stream);
    // Before the question, so that it is not asked about a stream that is not there.
    const { length } = await writer.listOpenShards();
    const question = `This ends event time in ${countShards(length)} of stream ${stream}, for ever: all windows close, and every event that is put later is late. Go on?`;
    if (!yes && !(await confirm(question))) {
      console.error('holdfast: nothing was put into the stream');
      return 1;
    }
    const { shards, time } = await putHeartbeats(writer, endOfStreamMs);
    console.log(
      json
        ? JSON.stringify({ stream, shards, time }, undefined, 2)
        : `event time has ended in ${countShards(shards)} of stream ${stream}; windows close as operators come to it. If the stream was resharded meanwhile, flush it again`,
    );
    return 0;
  } finally {
    kinesis.destroy();
  }
}

function countShards(count: number): string {
  return count === 1 ? 'one open shard' : `${count} open shards`;
}
