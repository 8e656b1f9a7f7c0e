import { describe, expect, it } from 'vitest';
import {
  waitForRecords,
  type ProgressReader,
} from '../../../localstack/endpoint/demo/wait-for-records.ts';
import type { Progress } from '../../../shared/core/progress.ts';
import type { Job } from '../../../shared/ports/control-store.ts';

const ends = [{ shardId: 'shard-1', sequence: '0020' }];
const job = 'flight-delays';

/** A job whose one channel goes from one state to the next with each look at it. */
function jobThatCommits(states: readonly Partial<Progress>[], generation = 1): ProgressReader {
  let looks = 0;
  return {
    readJob: () => Promise.resolve({ name: job, generation } as Job),
    listChannels: () =>
      Promise.resolve([
        { operator: job, stream: { name: 'flights', createdAtMs: 1 }, shardId: 'shard-1' },
      ]),
    readProgress(_job, asked) {
      if (asked !== generation) return Promise.resolve(undefined);
      const state = states[Math.min(looks, states.length - 1)];
      looks += 1;
      return Promise.resolve({ version: looks, ...state } as Progress);
    },
  };
}

const at = (sequence: string, more: Partial<Progress> = {}): Partial<Progress> => ({
  position: { sequence, sub: 0 },
  firing: undefined,
  ...more,
});

describe('the wait for records', () => {
  it('ends with the last record of each shard', async () => {
    await waitForRecords({ control: jobThatCommits([at('0019'), at('0020')]), job, ends });
    await waitForRecords({ control: jobThatCommits([at('0021')]), job, ends });
  });

  it('goes on while timers that it made due are firing', async () => {
    const seen: Progress['firing'][] = [];
    const states = [at('0020', { firing: 'none' }), at('0020', { firing: 'none' }), at('0020')];
    const control = jobThatCommits(states);
    const counting: ProgressReader = {
      ...control,
      async readProgress(...asked) {
        const progress = await control.readProgress(...asked);
        seen.push(progress?.firing);
        return progress;
      },
    };
    await waitForRecords({ control: counting, job, ends });
    expect(seen).toEqual(['none', 'none', undefined]);
  });

  it('looks at the generation that the job is in', async () => {
    await waitForRecords({ control: jobThatCommits([at('0020')], 3), job, ends });
  });

  it('ends with the reason and the remedy where nothing is committed', async () => {
    const control = jobThatCommits([at('0019', { version: 7 })]);
    await expect(waitForRecords({ control, job, ends, stallMs: 600 })).rejects.toThrow(
      /job flight-delays has committed nothing for 0.6 s, and shard-1 has records left; see the log/,
    );
  });
});
