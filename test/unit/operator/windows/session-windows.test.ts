import { describe, expect, it } from 'vitest';
import { everyEvents } from '../../../../shared/operator/windows/early-trigger.ts';
import { session } from '../../../../shared/operator/windows/window-assigner.ts';
import { driveSums } from './summing-operator.ts';

const options = { window: session(10), outOfOrdernessMs: 100 };

describe('a session', () => {
  it('lasts until a gap without events', () => {
    const { send, advance } = driveSums(options);
    send(0, 1);
    send(9, 2);
    send(18, 4);
    send(50, 8);
    expect(advance(27)).toEqual([]);
    expect(advance(28)).toEqual(['fire [0, 28) = 7 @ 28']);
    expect(advance(60)).toEqual(['fire [50, 60) = 8 @ 60']);
  });

  it('does not take an event exactly a gap after its last', () => {
    const { send, advance } = driveSums(options);
    send(0, 1);
    send(10, 2);
    expect(advance(20)).toEqual(['fire [0, 10) = 1 @ 20', 'fire [10, 20) = 2 @ 20']);
  });

  it('has one timer, at its end, however often it grew', () => {
    const { send, driver } = driveSums(options);
    for (const ts of [5, 9, 3, 12, 7]) send(ts);
    expect(driver.timersOf('a')).toEqual([{ domain: 'event', time: 22, name: 'window:3' }]);
  });

  it('merges with another when an event joins them', () => {
    const { send, advance, held } = driveSums(options);
    send(0, 1);
    send(15, 2);
    expect(held()).toEqual(['[0, 10)', '[15, 25)']);
    send(8, 4);
    expect(held()).toEqual(['[0, 25)']);
    expect(advance(25)).toEqual(['fire [0, 25) = 7 @ 25']);
  });

  it('grows together from three, whatever the order in which they came', () => {
    const { send, advance, held, driver } = driveSums({ ...options, window: session(20) });
    send(38, 4);
    send(0, 1);
    send(70, 8);
    expect(held()).toEqual(['[0, 20)', '[38, 58)', '[70, 90)']);
    // One event joins at most two: none lasts less than the gap. [19, 39) joins the first two, [57, 77) the rest.
    send(19, 2);
    expect(held()).toEqual(['[0, 58)', '[70, 90)']);
    send(57, 16);
    expect(held()).toEqual(['[0, 90)']);
    expect(driver.timersOf('a')).toHaveLength(1);
    expect(advance(90)).toEqual(['fire [0, 90) = 31 @ 90']);
  });
});

describe('a late event of a session', () => {
  const late = { window: session(10), outOfOrdernessMs: 0, allowedLatenessMs: 20 };

  it('gives an update where the session stays over', () => {
    const { send, advance } = driveSums(late);
    send(0, 1);
    expect(advance(12)).toEqual(['fire [0, 10) = 1 @ 12']);
    expect(send(0, 2)).toEqual(['late-update [0, 10) = 3 @ 12']);
  });

  it('gives an update that replaces what was told of a shorter session', () => {
    const { send, advance } = driveSums(late);
    send(5, 1);
    expect(advance(20)).toEqual(['fire [5, 15) = 1 @ 20']);
    expect(send(2, 2)).toEqual(['late-update [2, 15) = 3 @ 20 replaces [5, 15)']);
    expect(send(8, 4)).toEqual(['late-update [2, 18) = 7 @ 20 replaces [2, 15)']);
  });

  it('opens a session again that it carries past the watermark', () => {
    const { send, advance, held } = driveSums(late);
    send(0, 1);
    expect(advance(12)).toEqual(['fire [0, 10) = 1 @ 12']);
    expect(send(9, 2)).toEqual([]);
    expect(held()).toEqual(['[0, 19)']);
    expect(advance(19)).toEqual(['fire [0, 19) = 3 @ 19 replaces [0, 10)']);
  });

  it('replaces both results where it joins two that had fired', () => {
    const { send, advance } = driveSums({ ...late, allowedLatenessMs: 100 });
    send(0, 1);
    send(15, 2);
    expect(advance(40)).toEqual(['fire [15, 25) = 2 @ 40']);
    expect(send(8, 4)).toEqual(['late-update [0, 25) = 7 @ 40 replaces [0, 10) [15, 25)']);
    expect(send(8, 8)).toEqual(['late-update [0, 25) = 15 @ 40']);
  });

  it('makes a session of its own where it touches none', () => {
    const { send, advance, driver } = driveSums(late);
    advance(25);
    expect(send(5, 1)).toEqual(['late-update [5, 15) = 1 @ 25']);
    expect(driver.timersOf('a')).toEqual([{ domain: 'event', time: 35, name: 'window:5' }]);
    expect(advance(35)).toEqual([]);
    expect(driver.keys()).toEqual([]);
  });

  it('is too late where its own session would be over, at end + lateness', () => {
    const { send, advance } = driveSums(late);
    advance(34);
    expect(send(5, 1)).toEqual(['late-update [5, 15) = 1 @ 34']);
    const other = driveSums(late);
    other.advance(35);
    expect(other.send(5, 1)).toEqual(['late 5 @ 35 missed [5, 15)']);
  });

  it('still joins a session that is kept, however early it is', () => {
    const { send, advance } = driveSums({ ...late, allowedLatenessMs: 5 });
    send(10, 1);
    expect(advance(24)).toEqual(['fire [10, 20) = 1 @ 24']);
    // Alone it would be [8, 18), over since 23.
    expect(send(8, 2)).toEqual(['late-update [8, 20) = 3 @ 24 replaces [10, 20)']);
  });
});

describe('early results of a session', () => {
  it('are replaced by those of the longer one', () => {
    const { send, advance } = driveSums({ ...options, early: everyEvents(2) });
    send(0, 1);
    expect(send(5, 2)).toEqual(['early [0, 15) = 3 @ -95']);
    expect(send(7, 4)).toEqual([]);
    expect(advance(17)).toEqual(['fire [0, 17) = 7 @ 17 replaces [0, 15)']);
  });
});
