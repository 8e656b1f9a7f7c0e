import { describe, expect, it } from 'vitest';
import { everyMs } from '../../../../shared/operator/windows/early-trigger.ts';
import { session, sliding, tumbling } from '../../../../shared/operator/windows/window-assigner.ts';
import { endOfStreamMs } from '../../../../shared/operator/windows/windowing.ts';
import { driveSums } from './summing-operator.ts';

describe('the event that ends a stream', () => {
  it('closes all open windows of its key, earliest first, and is in none', () => {
    const { send, end } = driveSums({ window: sliding(20, 10) });
    send(13, 1);
    send(14, 2);
    expect(end(14)).toEqual(['flush [0, 20) = 3 @ 9', 'flush [10, 30) = 3 @ 9']);
  });

  it('closes them by start, however they were opened', () => {
    const { send, end } = driveSums({ window: tumbling(10) });
    send(11, 1);
    send(9, 2);
    expect(end(11)).toEqual(['flush [0, 10) = 2 @ 6', 'flush [10, 20) = 1 @ 6']);
  });

  it('tells nothing of windows that have fired', () => {
    const { send, end } = driveSums({ window: tumbling(10), allowedLatenessMs: 100 });
    send(1, 1);
    expect(send(15, 2)).toEqual(['fire [0, 10) = 1 @ 10']);
    expect(end(15)).toEqual(['flush [10, 20) = 2 @ 10']);
  });

  it('leaves other keys alone', () => {
    const { end, driver } = driveSums({ window: tumbling(10) });
    driver.send({ key: 'b', ts: 1 });
    expect(end(1)).toEqual([]);
    expect(driver.timersOf('b')).toHaveLength(1);
  });

  it('lets a window tell no more at its end', () => {
    const { send, end, advance, driver } = driveSums({
      window: tumbling(10),
      early: everyMs(2),
    });
    send(1, 1);
    expect(end(1)).toEqual(['flush [0, 10) = 1 @ -4']);
    expect(end(1)).toEqual([]);
    expect(advance(9)).toEqual([]);
    expect(advance(10)).toEqual([]);
    expect(driver.keys()).toEqual([]);
  });

  it('makes what comes behind it late updates, until the lateness has passed', () => {
    const { send, end, advance, driver } = driveSums({
      window: tumbling(10),
      allowedLatenessMs: 10,
    });
    send(1, 1);
    end(1);
    expect(send(2, 2)).toEqual(['late-update [0, 10) = 3 @ -3']);
    expect(advance(12)).toEqual([]);
    expect(send(3, 4)).toEqual(['late-update [0, 10) = 7 @ 12']);
    expect(advance(20)).toEqual([]);
    expect(driver.keys()).toEqual([]);
  });

  it('keeps a session closed that grows behind it', () => {
    const { send, end, advance } = driveSums({ window: session(10) });
    send(1, 1);
    end(1);
    expect(send(5, 2)).toEqual(['late-update [1, 15) = 3 @ 0 replaces [1, 11)']);
    expect(advance(15)).toEqual([]);
  });
});

describe('a heartbeat at the end of all time', () => {
  it('flushes the windows of all keys and leaves no state behind', () => {
    const { driver } = driveSums({ window: tumbling(10), allowedLatenessMs: 50 });
    driver.send({ key: 'a', ts: 1, value: 1 });
    driver.send({ key: 'b', ts: 25, value: 2 });
    driver.send({ key: 'a', ts: 26, value: 4 });
    const flushed = driver.advanceWatermark(endOfStreamMs);
    expect(flushed.map(({ key, row }) => ({ key, ...(row as object) }))).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ key: 'a', kind: 'flush', start: 20, sum: 4 }),
        expect.objectContaining({ key: 'b', kind: 'flush', start: 20, sum: 2 }),
      ]),
    );
    expect(flushed).toHaveLength(2);
    expect(driver.keys()).toEqual([]);
    expect(driver.timersOf('a')).toEqual([]);
  });

  it('makes everything behind it too late', () => {
    const { send, advance } = driveSums({ window: tumbling(10), allowedLatenessMs: 50 });
    advance(endOfStreamMs);
    expect(send(5)).toEqual([`late 5 @ ${endOfStreamMs} missed [0, 10)`]);
  });
});
