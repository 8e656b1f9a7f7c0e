import { expect, it } from 'vitest';
import type { Channel } from '../../../../shared/core/channel.ts';
import type { Progress } from '../../../../shared/core/progress.ts';
import type { ControlStore } from '../../../../shared/ports/control-store.ts';
import { readProgressOfAll } from '../../../../shared/runtime/checkpoint/read-cut.ts';

/*
 * C2: channels are listed in pages. A shard that begins behind the page on which it would be, and is split at once, is in no page,
 * while its child is on a later one.
 */
it('finds a parent that began too late for its page by its child', async () => {
  const stream = { name: 'events', createdAtMs: 1 };
  const channelOf = (shardId: string): Channel => ({ operator: 'tally', stream, shardId });
  const progress: Readonly<Record<string, Pick<Progress, 'parentIds' | 'isFinished'>>> = {
    parent: { parentIds: ['gone'], isFinished: true },
    child: { parentIds: ['parent'], isFinished: false },
  };
  const control: Pick<ControlStore, 'listChannels' | 'readProgress'> = {
    listChannels: async () => [channelOf('child')],
    readProgress: async (_, __, { shardId }) => progress[shardId] as Progress | undefined,
  };
  const read = await readProgressOfAll({ control: control as ControlStore, job: 'demo' }, 1);
  expect(read.map(({ channel }) => channel.shardId)).toEqual(['child', 'parent']);
});
