import { describe, expect, it } from 'vitest';
import { everyEvents, everyMs } from '../../../../shared/operator/windows/early-trigger.ts';
import { session, tumbling } from '../../../../shared/operator/windows/window-assigner.ts';
import { driveSums } from './summing-operator.ts';

describe('early results every n events', () => {
  it('come with each nth event of a window, and hold all before', () => {
    const { send } = driveSums({ window: tumbling(100), early: everyEvents(2) });
    expect(send(1, 1)).toEqual([]);
    expect(send(2, 2)).toEqual(['early [0, 100) = 3 @ -3']);
    expect(send(3, 4)).toEqual([]);
    expect(send(7, 8)).toEqual(['early [0, 100) = 15 @ 2']);
  });

  it('come for each window by itself', () => {
    const { send } = driveSums({
      window: tumbling(10),
      early: everyEvents(2),
      outOfOrdernessMs: 50,
    });
    send(1, 1);
    expect(send(11, 2)).toEqual([]);
    expect(send(2, 4)).toEqual(['early [0, 10) = 5 @ -39']);
  });

  it('come with the very first event', () => {
    const { send } = driveSums({ window: tumbling(10), early: everyEvents(1) });
    expect(send(4, 1)).toEqual(['early [0, 10) = 1 @ -1']);
  });

  it('do not take the place of the final one', () => {
    const { send, advance } = driveSums({ window: tumbling(10), early: everyEvents(1) });
    send(1, 1);
    expect(advance(10)).toEqual(['fire [0, 10) = 1 @ 10']);
  });

  it('end where the window has fired: late events give updates', () => {
    const { send, advance } = driveSums({
      window: tumbling(10),
      early: everyEvents(2),
      allowedLatenessMs: 10,
    });
    send(1, 1);
    advance(10);
    expect(send(2, 2)).toEqual(['late-update [0, 10) = 3 @ 10']);
    expect(send(3, 4)).toEqual(['late-update [0, 10) = 7 @ 10']);
  });
});

describe('early results every t of event time', () => {
  const options = { window: tumbling(100), early: everyMs(10), outOfOrdernessMs: 0 };

  it('come when the watermark passes a step since the start of the window', () => {
    const { send, advance } = driveSums(options);
    send(3, 1);
    expect(advance(9)).toEqual([]);
    expect(advance(10)).toEqual(['early [0, 100) = 1 @ 10']);
  });

  it('come only where there is something new', () => {
    const { send, advance, driver } = driveSums(options);
    send(3, 1);
    advance(10);
    expect(advance(55)).toEqual([]);
    expect(driver.timersOf('a')).toHaveLength(1);
    send(57, 2);
    expect(advance(60)).toEqual(['early [0, 100) = 3 @ 60']);
  });

  it('come once where the watermark jumps over several steps', () => {
    const { send, advance } = driveSums(options);
    send(3, 1);
    expect(advance(73)).toEqual(['early [0, 100) = 1 @ 73']);
  });

  it('come right behind the event that passes the step itself', () => {
    const { send } = driveSums(options);
    send(3, 1);
    expect(send(12, 2)).toEqual(['early [0, 100) = 3 @ 12']);
  });

  it('come although each event passes a step and makes its session longer', () => {
    const { send } = driveSums({ window: session(30), early: everyMs(10), outOfOrdernessMs: 0 });
    expect(send(0, 1)).toEqual([]);
    expect(send(12, 2)).toEqual(['early [0, 42) = 3 @ 12']);
    expect(send(24, 4)).toEqual(['early [0, 54) = 7 @ 24 replaces [0, 42)']);
  });

  it('are left out where the final one follows at once', () => {
    const { send, advance, driver } = driveSums(options);
    send(3, 1);
    expect(advance(100)).toEqual(['fire [0, 100) = 1 @ 100']);
    expect(driver.timersOf('a')).toEqual([]);
  });

  it('are left out in the last step', () => {
    const { send, driver } = driveSums(options);
    send(95, 1);
    expect(driver.timersOf('a')).toEqual([{ domain: 'event', time: 100, name: 'window:0' }]);
  });

  it('go with a session that grows and merges', () => {
    const { send, advance, driver } = driveSums({
      window: session(30),
      early: everyMs(20),
      outOfOrdernessMs: 100,
    });
    send(40, 1);
    send(0, 2);
    expect(driver.timersOf('a').map(({ name, time }) => [name, time])).toEqual([
      ['early:0', 20],
      ['window:0', 30],
      ['early:40', 60],
      ['window:40', 70],
    ]);
    send(20, 4);
    expect(driver.timersOf('a').map(({ name, time }) => [name, time])).toEqual([
      ['early:0', 20],
      ['window:0', 70],
    ]);
    expect(advance(25)).toEqual(['early [0, 70) = 7 @ 25']);
    expect(advance(70)).toEqual(['fire [0, 70) = 7 @ 70']);
  });

  it('come for a session that is shorter than a step once it is longer', () => {
    const { send, advance } = driveSums({
      window: session(10),
      early: everyMs(15),
      outOfOrdernessMs: 100,
    });
    send(0, 1);
    send(9, 2);
    expect(advance(15)).toEqual(['early [0, 19) = 3 @ 15']);
  });
});
