import { describe, expect, it } from 'vitest';
import { sliding, tumbling } from '../../../../shared/operator/windows/window-assigner.ts';
import { driveSums } from './summing-operator.ts';

describe('a tumbling window', () => {
  it('fires when the watermark reaches its end, not before', () => {
    const { send } = driveSums({ window: tumbling(10) });
    expect(send(3, 1)).toEqual([]);
    expect(send(9, 2)).toEqual([]);
    expect(send(14, 4)).toEqual([]);
    expect(send(15, 8)).toEqual(['fire [0, 10) = 3 @ 10']);
  });

  it('takes out-of-order events up to the bound', () => {
    const { send } = driveSums({ window: tumbling(10) });
    send(14, 1);
    expect(send(9, 2)).toEqual([]);
    expect(send(15, 4)).toEqual(['fire [0, 10) = 2 @ 10']);
    expect(send(10, 8)).toEqual([]);
    expect(send(25, 16)).toEqual(['fire [10, 20) = 13 @ 20']);
  });

  it('fires behind a heartbeat, too', () => {
    const { send, advance } = driveSums({ window: tumbling(10) });
    send(3, 1);
    expect(advance(9)).toEqual([]);
    expect(advance(10)).toEqual(['fire [0, 10) = 1 @ 10']);
  });

  it('fires in the order of time when the watermark jumps, at the watermark after the jump', () => {
    const { send } = driveSums({ window: tumbling(10), outOfOrdernessMs: 20 });
    send(15, 1);
    send(5, 2);
    send(25, 4);
    expect(send(100, 8)).toEqual([
      'fire [0, 10) = 2 @ 80',
      'fire [10, 20) = 1 @ 80',
      'fire [20, 30) = 4 @ 80',
    ]);
  });

  it('is forgotten once it has fired, without lateness', () => {
    const { send, held, driver } = driveSums({ window: tumbling(10) });
    send(3);
    expect(held()).toEqual(['[0, 10)']);
    send(15);
    expect(held()).toEqual(['[10, 20)']);
    expect(driver.timersOf('a')).toEqual([{ domain: 'event', time: 20, name: 'window:10' }]);
  });

  it('leaves neither state nor timers of a key behind', () => {
    const { send, advance, driver } = driveSums({ window: tumbling(10), allowedLatenessMs: 100 });
    send(3);
    send(33);
    expect(advance(139)).toEqual(['fire [30, 40) = 1 @ 139']);
    expect(driver.keys()).toEqual(['a']);
    expect(advance(140)).toEqual([]);
    expect(driver.keys()).toEqual([]);
    expect(driver.timersOf('a')).toEqual([]);
  });

  it('is kept for each key', () => {
    const { driver } = driveSums({ window: tumbling(10) });
    driver.send({ key: 'a', ts: 3, value: 1 });
    driver.send({ key: 'b', ts: 4, value: 2 });
    const fired = driver.send({ key: 'c', ts: 15, value: 4 });
    expect(fired.map(({ key, row }) => [key, (row as { sum: number }).sum]).sort()).toEqual([
      ['a', 1],
      ['b', 2],
    ]);
  });

  it('lies by its offset', () => {
    const { send } = driveSums({ window: tumbling(10, 3), outOfOrdernessMs: 0 });
    send(2, 1);
    expect(send(3, 2)).toEqual(['fire [-7, 3) = 1 @ 3']);
  });

  it('takes fractions of a millisecond at the whole one', () => {
    const { send } = driveSums({ window: tumbling(10), outOfOrdernessMs: 0 });
    expect(send(9.9, 1)).toEqual([]);
    expect(send(10.9, 2)).toEqual(['fire [0, 10) = 1 @ 10']);
  });
});

describe('lateness', () => {
  // Watermark = event time: what the next event finds is what the one before said.
  const options = { window: tumbling(10), outOfOrdernessMs: 0, allowedLatenessMs: 5 };

  it('begins where the watermark is at the end: one before, an event is on time', () => {
    const { send } = driveSums(options);
    send(9, 1);
    expect(send(8, 2)).toEqual([]);
    expect(send(10, 4)).toEqual(['fire [0, 10) = 3 @ 10']);
  });

  it('gives an update for each event from then on', () => {
    const { send } = driveSums(options);
    send(9, 1);
    send(10, 2);
    expect(send(9, 4)).toEqual(['late-update [0, 10) = 5 @ 10']);
    expect(send(0, 8)).toEqual(['late-update [0, 10) = 13 @ 10']);
  });

  it('lasts as long as the watermark is below end + lateness', () => {
    const { send, held } = driveSums(options);
    send(9, 1);
    send(14, 2);
    expect(send(9, 4)).toEqual(['late-update [0, 10) = 5 @ 14']);
    expect(held()).toEqual(['[0, 10)', '[10, 20)']);
  });

  it('is over at end + lateness: the event goes to the late output and the window is gone', () => {
    const { send, held } = driveSums(options);
    send(9, 1);
    send(15, 2);
    expect(held()).toEqual(['[10, 20)']);
    expect(send(9, 4)).toEqual(['late 9 @ 15 missed [0, 10)']);
    expect(held()).toEqual(['[10, 20)']);
  });

  it('sends events late as soon as a window is over, where none is allowed', () => {
    const { send } = driveSums({ window: tumbling(10), outOfOrdernessMs: 0 });
    send(9, 1);
    expect(send(10, 2)).toEqual(['fire [0, 10) = 1 @ 10']);
    expect(send(9, 4)).toEqual(['late 9 @ 10 missed [0, 10)']);
  });

  it('lets an event open a window that nothing was in', () => {
    const { send, advance, driver } = driveSums(options);
    send(12, 1);
    expect(send(7, 2)).toEqual(['late-update [0, 10) = 2 @ 12']);
    expect(send(8, 4)).toEqual(['late-update [0, 10) = 6 @ 12']);
    expect(driver.timersOf('a')).toEqual([
      { domain: 'event', time: 15, name: 'window:0' },
      { domain: 'event', time: 20, name: 'window:10' },
    ]);
    expect(advance(15)).toEqual([]);
    expect(send(8, 8)).toEqual(['late 8 @ 15 missed [0, 10)']);
  });

  it('is measured by what other keys brought, too', () => {
    const { send, driver } = driveSums(options);
    send(9, 1);
    driver.send({ key: 'b', ts: 15 });
    expect(send(9, 2)).toEqual(['late 9 @ 15 missed [0, 10)']);
  });

  it('of one late event for each row counts them all', () => {
    const { send, driver } = driveSums(options);
    send(100);
    for (const ts of [1, 2, 3]) send(ts);
    expect(driver.outputs('late')).toHaveLength(3);
    expect(driver.outputs('results')).toHaveLength(0);
  });
});

describe('sliding windows', () => {
  it('each hold the events of their span', () => {
    const { send, advance } = driveSums({ window: sliding(20, 10), outOfOrdernessMs: 10 });
    send(5, 1);
    send(15, 2);
    send(12, 4);
    expect(advance(30)).toEqual([
      'fire [-10, 10) = 1 @ 30',
      'fire [0, 20) = 7 @ 30',
      'fire [10, 30) = 6 @ 30',
    ]);
  });

  it('take a late event where they are not over, and say which went without it', () => {
    const { send } = driveSums({ window: sliding(20, 10), outOfOrdernessMs: 0 });
    send(5, 1);
    expect(send(10, 2)).toEqual(['fire [-10, 10) = 1 @ 10']);
    expect(send(8, 4)).toEqual(['late 8 @ 10 missed [-10, 10)']);
    expect(send(20, 8)).toEqual(['fire [0, 20) = 7 @ 20']);
  });

  it('give updates and wait, each as the watermark stands to it', () => {
    const { send } = driveSums({
      window: sliding(30, 10),
      outOfOrdernessMs: 0,
      allowedLatenessMs: 10,
    });
    send(21, 1);
    // Of its windows [-20, 10) is over, [-10, 20) within its lateness and [0, 30) to come.
    expect(send(5, 2)).toEqual(['late-update [-10, 20) = 2 @ 21', 'late 5 @ 21 missed [-20, 10)']);
    expect(send(30, 4)).toEqual(['fire [0, 30) = 3 @ 30']);
  });
});
