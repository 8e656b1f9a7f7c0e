import { describe, expect, it } from 'vitest';
import {
  hasMoved,
  judge,
  type SeenChannel,
  type Sight,
  type WatchRules,
} from '../../../../cli/deploy/judge-watch.ts';

const rules: WatchRules = { settledAtMs: 1_000, untilMs: 5_000, deadLettersMax: 0 };
const before = { failures: 0, channels: [] };

const committed: SeenChannel = {
  channel: 'orders/a',
  isFinished: false,
  version: 7,
  committedAtMs: 1_000,
};
const byOldCode: SeenChannel = { ...committed, channel: 'orders/b', committedAtMs: 999 };
const well: Sight = {
  channels: [committed],
  checkpointAtMs: 1_000,
  failures: 0,
  lastFailure: undefined,
  letters: [],
  hold: undefined,
  refusals: [],
};
const letter = { channel: 'orders/a', reason: 'operator-failed', message: 'no such customer' };

function judgeAt(nowMs: number, changes: Partial<Sight> = {}, other: Partial<WatchRules> = {}) {
  return judge(before, { ...well, ...changes }, nowMs, { ...rules, ...other });
}

describe('a deployment that is watched', () => {
  it('goes well when all channels have committed by the new code, and a checkpoint is complete', () => {
    expect(judgeAt(1_000)).toEqual({ kind: 'well', committed: 1, quiet: 0 });
  });

  it('waits for whatever the old code may still commit', () => {
    expect(judgeAt(999)).toEqual({
      kind: 'wait',
      missing: ['the end of what the old code had under way'],
    });
  });

  it.each([true, undefined])(
    'does not take a commit of the old code for one of the new (unread: %s)',
    (hasUnread) => {
      const channel = hasUnread === undefined ? byOldCode : { ...byOldCode, hasUnread };
      expect(judgeAt(2_000, { channels: [committed, channel] })).toEqual({
        kind: 'wait',
        missing: ['a unit of orders/b'],
      });
    },
  );

  it('takes a channel with nothing to commit as quiet, and leaves finished ones out', () => {
    const channels = [
      { ...byOldCode, hasUnread: false },
      { ...byOldCode, channel: 'orders/c', isFinished: true },
    ];
    expect(judgeAt(2_000, { channels })).toEqual({ kind: 'well', committed: 0, quiet: 1 });
  });

  it('waits for a checkpoint of after the deployment', () => {
    expect(judgeAt(2_000, { checkpointAtMs: 999 })).toEqual({
      kind: 'wait',
      missing: ['a checkpoint'],
    });
  });

  it('is in trouble when its time is over, for everything that is missing', () => {
    const sight = { channels: [{ ...byOldCode, hasUnread: true }], checkpointAtMs: 0 };
    expect(judgeAt(4_999, sight).kind).toBe('wait');
    expect(judgeAt(5_000, sight)).toEqual({
      kind: 'trouble',
      reasons: ['a unit of orders/b has not come', 'a checkpoint has not come'],
    });
  });

  it('is in trouble at once with more dead letters than are allowed', () => {
    expect(judgeAt(0, { letters: [letter] })).toEqual({
      kind: 'trouble',
      reasons: [
        'a record or timer could not be processed since the deployment began, in orders/a: operator-failed, no such customer',
      ],
    });
    expect(judgeAt(2_000, { letters: [letter] }, { deadLettersMax: 1 }).kind).toBe('well');
    const two = judgeAt(2_000, { letters: [letter, letter] }, { deadLettersMax: 1 });
    expect(two).toMatchObject({ kind: 'trouble', reasons: [expect.stringMatching(/^2 records/)] });
  });

  it('is in trouble with a checkpoint that fails, but not for those that failed before', () => {
    const sight = { failures: 2, lastFailure: 'timed out' };
    expect(judgeAt(2_000, sight)).toEqual({
      kind: 'trouble',
      reasons: ['a checkpoint has failed: timed out'],
    });
    const failing = { failures: 2 };
    expect(judge(failing, { ...well, ...sight }, 2_000, rules).kind).toBe('well');
  });

  it('is in trouble with code that does not go on with the state, and under a hold', () => {
    const verdict = judgeAt(0, { refusals: ['state "x" is gone'], hold: 'restore r1' });
    expect(verdict).toEqual({
      kind: 'trouble',
      reasons: ['state "x" is gone', 'the job is held by restore r1'],
    });
  });
});

describe('a job since a deployment began', () => {
  const seen = { channels: [committed], letters: [] };

  it('has moved with a commit, a new channel, or a dead letter', () => {
    expect(hasMoved({ channels: [committed] }, seen)).toBe(false);
    expect(hasMoved({ channels: [{ ...committed, version: 6 }] }, seen)).toBe(true);
    expect(hasMoved({ channels: [] }, seen)).toBe(true);
    expect(hasMoved({ channels: [committed] }, { ...seen, letters: [letter] })).toBe(true);
  });
});
