import { expect, it } from 'vitest';
import type { ChannelSession } from '../../../shared/runtime/channel-session.ts';
import { earliestAfter, type DueKeys } from '../../../shared/runtime/due-keys.ts';

/*
 * More keys are due behind a record than a unit can load, and the unit ends before that record, for want of time. The key that was
 * loaded has fired already, in an attempt that died, so that nothing of it says when to look again (P12).
 */
it('counts the keys that were too many at once where the unit ends before their time', () => {
  const session = { progress: { earliest: { event: 172, arrival: undefined } } };
  const hint = { domain: 'event', time: 179, key: 'k6', keyHash: '4d' } as const;
  const due: DueKeys = {
    hints: [hint],
    rest: [{ ...hint, time: 172, key: 'k5', keyHash: 'a1' }],
    next: { event: undefined, arrival: undefined },
    wasAsked: { event: true, arrival: false },
  };
  const touched = { event: undefined, arrival: undefined };
  expect(earliestAfter(session as ChannelSession, due, false, touched).event).toBe(172);
  expect(earliestAfter(session as ChannelSession, { ...due, rest: [] }, false, touched)).toEqual({
    event: undefined,
    arrival: undefined,
  });
});
