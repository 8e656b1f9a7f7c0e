import { Buffer } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { promisify, types } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { pack, unpack } from '../../../shared/core/pack.ts';
import { copyPlain } from '../../../shared/core/plain-value.ts';
import {
  createDeterminismGuard,
  NonDeterministicOperatorError,
} from '../../../shared/operator/determinism-guard.ts';
import {
  guardConnections,
  guardPlatform,
  unguardPlatform,
} from '../../../shared/operator/guard-platform.ts';
import { createOperatorInstance } from '../../../shared/operator/operator-instance.ts';
import { createOperatorDriver } from '../../../shared/operator/testing/operator-driver.ts';
import { operatorDoing } from './run-fixture.ts';

/** Runs it once inside an operator, and returns what it returned. */
function inside<Result>(callback: () => Result): Result {
  const results: Result[] = [];
  const guard = createDeterminismGuard('doer', { mode: 'strict' });
  const instance = createOperatorInstance(
    operatorDoing(() => void results.push(callback())),
    guard,
  );
  const position = { sequence: '1', sub: 0 };
  instance.processEvent({ key: 'k', position, arrivalMs: 1, event: {} }, [], []);
  return results[0]!;
}

const refused = (callback: () => unknown) =>
  expect(() => inside(callback)).toThrow(NonDeterministicOperatorError);

const realDate = Date;

beforeEach(() => {
  guardPlatform();
  guardConnections();
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  unguardPlatform();
});

describe.each([
  ['inside', inside],
  ['outside', <Result>(callback: () => Result): Result => callback()],
])('%s of operators Date', (_, run) => {
  it('makes dates of what it is given', () => {
    expect(run(() => new Date(5).getTime())).toBe(5);
    expect(run(() => new Date('2025-01-01T00:00:00Z').getTime())).toBe(1_735_689_600_000);
    expect(run(() => new Date(new Date(7)).getTime())).toBe(7);
    expect(run(() => new Date(2025, 0, 2, 3, 4, 5, 6))).toEqual(
      Reflect.construct(realDate, [2025, 0, 2, 3, 4, 5, 6]),
    );
    expect(run(() => new Date(undefined as unknown as number).getTime())).toBeNaN();
  });

  it('has the functions, the name and the length of Date', () => {
    expect(
      run(() => [Date.UTC(1970, 0, 1), Date.parse('1970-01-01'), Date.name, Date.length]),
    ).toEqual([0, 0, 'Date', 7]);
    expect(run(() => Date.prototype)).toBe(realDate.prototype);
  });

  it('is what dates are instances of, whoever made them', () => {
    const made = new realDate(0);
    expect(run(() => made instanceof Date && made.constructor === Date)).toBe(true);
    expect(run(() => new Date(0)) instanceof realDate).toBe(true);
    expect(types.isDate(run(() => new Date(0)))).toBe(true);
    expect(run(() => ('text' as unknown) instanceof Date)).toBe(false);
  });

  it('can be extended', () => {
    class Day extends Date {
      get day() {
        return this.getTime() / 86_400_000;
      }
    }
    expect(run(() => new Day(86_400_000).day)).toBe(1);
    expect(run(() => new Day(0))).toBeInstanceOf(realDate);
    expect(run(() => Object.getPrototypeOf(new Day(0)) === Day.prototype)).toBe(true);
  });

  it('survives zod, msgpackr and structuredClone', () => {
    const date = new Date(1_000);
    expect(run(() => unpack(pack({ date })))).toEqual({ date });
    expect(run(() => unpack(pack({ date: new Date(1_000) })))).toEqual({ date });
    expect(run(() => z.date().parse(date))).toBe(date);
    expect(run(() => z.coerce.date().parse('1970-01-01T00:00:01Z'))).toEqual(date);
    expect(run(() => copyPlain({ date }))).toEqual({ date });
    expect(run(() => structuredClone(date))).toEqual(date);
  });
});

describe('outside of operators', () => {
  it('clock, dice and timers go on', async () => {
    const before = Date.now();
    expect(new Date().getTime()).toBeGreaterThanOrEqual(before);
    expect(Date()).toMatch(/^\w{3} \w{3} /);
    expect(Math.random()).toBeLessThan(1);
    expect(performance.timeOrigin + performance.now()).toBeGreaterThan(0);
    expect(process.hrtime.bigint()).toBeTypeOf('bigint');
    expect(crypto.randomUUID()).toHaveLength(36);
    expect(await promisify(setTimeout)(0, 'late')).toBe('late');
    expect(await new Promise((done) => process.nextTick(done, 'next'))).toBe('next');
    const timer = setTimeout(() => undefined, 1e6);
    expect(timer.hasRef()).toBe(true);
    clearTimeout(timer);
  });

  it('process.env is what it was, and can be replaced', () => {
    const real = process.env;
    process.env['HOLDFAST_TRIAL'] = 'set';
    expect({ ...process.env }['HOLDFAST_TRIAL']).toBe('set');
    delete process.env['HOLDFAST_TRIAL'];
    process.env = { ONLY: 'this' };
    expect(process.env).toEqual({ ONLY: 'this' });
    refused(() => process.env['ONLY']);
    process.env = real;
    expect(process.env).toBe(real);
  });

  it('a global that has a getter and a setter keeps them', () => {
    let current: unknown = class Early {};
    const property = { get: () => current, set: (value: unknown) => (current = value) };
    Object.defineProperty(globalThis, 'EventSource', { ...property, configurable: true });
    try {
      guardConnections();
      class Late {}
      Reflect.set(globalThis, 'EventSource', Late);
      expect(current).toBe(Late);
      const create = () => Reflect.construct(Reflect.get(globalThis, 'EventSource'), []) as object;
      expect(create()).toBeInstanceOf(Late);
      expect(() => inside(create)).toThrow('new EventSource() inside operator doer');
      unguardPlatform();
      expect(Object.getOwnPropertyDescriptor(globalThis, 'EventSource')).toMatchObject(property);
    } finally {
      Reflect.deleteProperty(globalThis, 'EventSource');
    }
  });

  it('one function under two names is still one', () => {
    const timers = createRequire(import.meta.url)('node:timers') as { setTimeout: unknown };
    expect(timers.setTimeout).toBe(setTimeout);
  });
});

describe('operators', () => {
  it('may log, though a log looks at the clock', () => {
    const lines: string[] = [];
    vi.spyOn(console, 'log').mockImplementation((text: string) => {
      lines.push(`${new Date().toISOString().slice(0, 2)} ${text}`);
    });
    guardPlatform();
    inside(() => console.log('seen'));
    expect(lines).toEqual(['20 seen']);
  });

  it('may use what of Node schedules, loads code or looks for its folder by itself', () => {
    const stream = new PassThrough();
    expect(inside(() => stream.write('text'))).toBe(true);
    const require = createRequire(import.meta.url);
    expect(inside(() => require('../../../package.json') as object)).toMatchObject({
      name: 'holdfast',
    });
    expect(inside(() => resolve('.'))).toBe(process.cwd());
  });

  it('may use what depends on nothing but its arguments', () => {
    const text = () => [
      gzipSync('text').length,
      Buffer.from('text').toString('hex'),
      new URL('http://example.com/a').pathname,
      new Intl.NumberFormat('en').format(1_000),
      Math.max(1, 2),
      process.env['NODE_ENV'] === undefined,
    ];
    expect(inside(text)).toEqual(text());
  });
});

describe('the guard of the platform', () => {
  it('can be taken away without a trace', () => {
    unguardPlatform();
    const look = () => [
      ...[Date, Date.now, Date.prototype.constructor, Math.random, setTimeout, fetch, readFileSync],
      ...[process.hrtime, process.hrtime.bigint, crypto.randomUUID, console.log, performance.now],
      Object.getOwnPropertyDescriptor(process, 'env'),
      Object.getOwnPropertyDescriptor(globalThis, 'WebSocket'),
      Object.getOwnPropertyDescriptor(Object.getPrototypeOf(performance) as object, 'timeOrigin'),
    ];
    const before = look();
    guardPlatform();
    guardConnections();
    const during = look();
    expect(during.filter((one, at) => one === before[at])).toEqual([]);
    unguardPlatform();
    expect(look()).toEqual(before);
    expect(Date).toBe(realDate);
    expect(inside(() => Date.now())).toBeTypeOf('number');
  });

  it('is the same when it is put up twice', () => {
    const before = [Date, Date.now, Math.random, readFileSync, setTimeout];
    guardPlatform();
    expect([Date, Date.now, Math.random, readFileSync, setTimeout]).toEqual(before);
    unguardPlatform();
    expect(Date).toBe(realDate);
  });

  it('is shared by the copies of its module', async () => {
    vi.resetModules();
    const path = '../../../shared/operator/guard-platform.ts';
    const copy = (await import(path)) as { guardPlatform: typeof guardPlatform };
    expect(copy.guardPlatform).not.toBe(guardPlatform);
    const before = [Date, Math.random, setTimeout];
    copy.guardPlatform();
    expect([Date, Math.random, setTimeout]).toEqual(before);
  });
});

describe('in tests with stand-ins of their own', () => {
  const driver = (callback: () => unknown) =>
    createOperatorDriver(operatorDoing(() => void callback()));

  it('fake timers work, and operators are refused them', () => {
    vi.useFakeTimers({ now: 5_000 });
    expect(Date.now()).toBe(5_000);
    expect(new Date().getTime()).toBe(5_000);
    for (const callback of [() => Date.now(), () => new Date(), () => setTimeout(() => 0, 1)]) {
      expect(() => driver(callback).send({})).toThrow(NonDeterministicOperatorError);
    }
    expect(driver(() => new Date(5).getTime()).send({})).toEqual([]);
    expect(new Date().getTime()).toBe(5_000);
    let hasFired = false;
    setTimeout(() => (hasFired = true), 1_000);
    vi.advanceTimersByTime(1_000);
    expect([hasFired, Date.now()]).toEqual([true, 6_000]);
    vi.useRealTimers();
    expect(Date.now()).toBeGreaterThan(1_000_000);
    expect(new Date().getTime()).toBeGreaterThan(1_000_000);
    expect(new Date(0).constructor).toBe(Date);
    for (const callback of [() => Date.now(), () => new Date(), () => setTimeout(() => 0, 1)]) {
      expect(() => driver(callback).send({})).toThrow(NonDeterministicOperatorError);
    }
  });

  it('a date that was set stays set, and is refused to operators', () => {
    vi.setSystemTime(7_000);
    expect([Date.now(), new Date().getTime()]).toEqual([7_000, 7_000]);
    expect(() => driver(() => new Date()).send({})).toThrow(NonDeterministicOperatorError);
    expect([Date.now(), new Date().getTime()]).toEqual([7_000, 7_000]);
    vi.useRealTimers();
    expect(Date.now()).toBeGreaterThan(1_000_000);
  });

  it('spies see calls, can be asked about them and go away again', () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    vi.spyOn(Date, 'now').mockReturnValue(1);
    expect(() => driver(() => Math.random()).send({})).toThrow(NonDeterministicOperatorError);
    expect([Math.random(), Date.now()]).toEqual([0.5, 1]);
    expect(Math.random).toHaveBeenCalledTimes(1);
    vi.restoreAllMocks();
    expect(Date.now()).toBeGreaterThan(1_000_000);
    expect(() => driver(() => Math.random()).send({})).toThrow(NonDeterministicOperatorError);
  });
});
