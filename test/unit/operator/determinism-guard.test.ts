import { execSync } from 'node:child_process';
import { getRandomValues, randomBytes, randomInt, randomUUID } from 'node:crypto';
import { lookup } from 'node:dns';
import { existsSync, promises, readFileSync, writeFileSync } from 'node:fs';
import * as files from 'node:fs';
import { readFile } from 'node:fs/promises';
import { get, request } from 'node:http';
import https from 'node:https';
import { connect, createConnection } from 'node:net';
import { hostname } from 'node:os';
import { performance as performanceOfModule } from 'node:perf_hooks';
import { hrtime, nextTick } from 'node:process';
import { setImmediate as setImmediateOfModule } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  createDeterminismGuard,
  NonDeterministicOperatorError,
  type DeterminismMode,
} from '../../../shared/operator/determinism-guard.ts';
import { guardPlatform } from '../../../shared/operator/guard-platform.ts';
import { createOperatorInstance } from '../../../shared/operator/operator-instance.ts';
import { defineOperator } from '../../../shared/operator/operator.ts';
import { createOperatorDriver } from '../../../shared/operator/testing/operator-driver.ts';
import { operatorDoing } from './run-fixture.ts';

const file = 'does-not-exist';
const port = 1;

/** By what the error has to call it. */
const calls: readonly (readonly [string, () => unknown])[] = [
  ['Date.now()', () => Date.now()],
  ['new Date()', () => new Date()],
  ['Date()', () => Date()],
  ['new Date()', () => Reflect.construct(Date, []) as unknown],
  ['new Date()', () => new (class Stamp extends Date {})()],
  ['new Date()', () => new (new Date(0).constructor as DateConstructor)()],
  ['performance.now()', () => performance.now()],
  ['performance.now()', () => performanceOfModule.now()],
  ['performance.timeOrigin', () => performance.timeOrigin],
  ['process.hrtime()', () => process.hrtime()],
  ['process.hrtime()', () => hrtime()],
  ['process.hrtime.bigint()', () => process.hrtime.bigint()],
  ['process.uptime()', () => process.uptime()],
  ['Math.random()', () => Math.random()],
  ['Math.random()', () => [1].map(Math.random)],
  ['crypto.randomUUID()', () => crypto.randomUUID()],
  ['crypto.randomUUID()', () => randomUUID()],
  ['crypto.getRandomValues()', () => crypto.getRandomValues(new Uint8Array(1))],
  ['crypto.getRandomValues()', () => getRandomValues(new Uint8Array(1))],
  ['crypto.randomBytes()', () => randomBytes(1)],
  ['crypto.randomInt()', () => randomInt(9)],
  ['setTimeout()', () => setTimeout(() => undefined, 0)],
  ['setTimeout()', () => globalThis.setTimeout(() => undefined, 0)],
  ['setInterval()', () => setInterval(() => undefined, 1e6)],
  ['setImmediate()', () => setImmediate(() => undefined)],
  ['setImmediate()', () => setImmediateOfModule(() => undefined)],
  ['timers.promises.setTimeout()', () => sleep(0)],
  ['queueMicrotask()', () => queueMicrotask(() => undefined)],
  ['process.nextTick()', () => process.nextTick(() => undefined)],
  ['process.nextTick()', () => nextTick(() => undefined)],
  ['fetch()', () => fetch('http://127.0.0.1:1')],
  ['new WebSocket()', () => new WebSocket('ws://127.0.0.1:1')],
  ['http.request()', () => request({ port })],
  ['http.get()', () => get({ port })],
  ['https.request()', () => https.request({ port })],
  ['net.connect()', () => connect(port)],
  ['net.connect()', () => createConnection(port)],
  ['dns.lookup()', () => lookup('127.0.0.1', () => undefined)],
  ['child_process.execSync()', () => execSync('true')],
  ['fs.readFileSync()', () => readFileSync(file)],
  ['fs.existsSync()', () => existsSync(file)],
  ['fs.existsSync()', () => files.existsSync(file)],
  ['fs.writeFileSync()', () => writeFileSync(file, '')],
  ['fs.promises.readFile()', () => readFile(file)],
  ['fs.promises.readFile()', () => promises.readFile(file)],
  ['os.hostname()', () => hostname()],
  ['process.cwd()', () => process.cwd()],
  ['process.env.HOME', () => process.env['HOME']],
  ['process.env.HOME', () => 'HOME' in process.env],
  ['process.env', () => Object.keys(process.env)],
];

const run = (callback: () => unknown) =>
  createOperatorDriver(operatorDoing(() => void callback())).send({});

function refusalOf(callback: () => unknown): NonDeterministicOperatorError {
  try {
    run(callback);
  } catch (error) {
    if (error instanceof NonDeterministicOperatorError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('a driven operator', () => {
  it.each(calls)('is refused %s', (name, callback) => {
    expect(refusalOf(callback)).toMatchObject({ kind: 'invalid', operator: 'doer', call: name });
  });

  it.each([
    ["Date.now() inside operator doer: use ctx.now(), the event's arrival time", () => Date.now()],
    [
      "Math.random() inside operator doer: use ctx.random(), which is seeded by the event's key and position",
      () => Math.random(),
    ],
    [
      'setTimeout() inside operator doer: use ctx.timers, which fire by the time of the events, the same in every replay',
      () => setTimeout(() => undefined, 0),
    ],
    [
      'fetch() inside operator doer: a replay may get another answer; put what is needed into the event, or into ctx.state',
      () => fetch('http://127.0.0.1:1'),
    ],
    [
      'process.env.HOME inside operator doer: a replay may run elsewhere; read it when the module loads, or put it into the event',
      () => process.env['HOME'],
    ],
  ])('is told: %s', (message, callback) => {
    expect(refusalOf(callback).message).toBe(message);
  });

  it('is shown the line that does it', () => {
    const lookAtTheClock = () => Date.now();
    expect(refusalOf(lookAtTheClock).stack?.split('\n')[1]).toContain('lookAtTheClock');
  });

  it('is refused what it catches, too', () => {
    const swallow = () => {
      try {
        Math.random();
      } catch {
        // As if nothing had happened.
      }
    };
    expect(refusalOf(swallow).call).toBe('Math.random()');
  });

  it('is told the first of several violations, whatever it throws itself', () => {
    const hide = () => {
      try {
        Date.now();
      } finally {
        // eslint-disable-next-line no-unsafe-finally -- hiding the violation is the point
        throw new Error(String(Math.random()));
      }
    };
    expect(refusalOf(hide).call).toBe('Date.now()');
  });

  it('goes on after a violation, with its state as it was', () => {
    let isBad = true;
    const driver = createOperatorDriver(
      operatorDoing((ctx) => {
        ctx.state.total.set((ctx.state.total.get() ?? 0) + 1);
        if (isBad) Math.random();
      }),
    );
    expect(() => driver.send({})).toThrow(NonDeterministicOperatorError);
    isBad = false;
    driver.send({});
    expect(driver.stateOf('k')).toEqual({ total: 1 });
  });

  it('throws its own errors as they are', () => {
    expect(() =>
      run(() => {
        throw new RangeError('mine');
      }),
    ).toThrow(new RangeError('mine'));
  });

  it('may do as it likes where the driver is told so', () => {
    const operator = operatorDoing(() => void Date.now());
    expect(createOperatorDriver(operator, { determinism: 'off' }).send({})).toEqual([]);
  });

  it('is refused the clock in its schema, its key, its event time and its timers', () => {
    const operator = (bad: string) => {
      const look = (place: string) => (place === bad ? Date.now() : 0);
      return defineOperator({
        id: 'everywhere',
        schema: z.object({ at: z.number().default(() => look('schema')) }),
        key: () => `k${look('key')}`,
        state: {},
        eventTime: { time: ({ at }) => at + look('eventTime'), outOfOrdernessMs: 0 },
        process: (_, { timers }) => {
          timers.register({ name: 'due', time: 0 });
        },
        onTimer: () => void look('timer'),
      });
    };
    for (const place of ['schema', 'key', 'eventTime', 'timer']) {
      const driver = createOperatorDriver(operator(place));
      expect(() => driver.send({}), place).toThrow('Date.now() inside operator everywhere');
    }
    expect(createOperatorDriver(operator('nowhere')).send({})).toEqual([]);
  });
});

describe('a guard', () => {
  const input = { key: 'k', position: { sequence: '1', sub: 0 }, arrivalMs: 1, event: {} };

  function guarded(mode: DeterminismMode, callback: () => unknown) {
    guardPlatform();
    const first: NonDeterministicOperatorError[] = [];
    const onFirstCall = (error: NonDeterministicOperatorError) => {
      // What is told may look at the clock itself, as a log does.
      first.push(Object.assign(error, { at: Date.now() }));
    };
    const guard = createDeterminismGuard('doer', { mode, onFirstCall });
    const instance = createOperatorInstance(
      operatorDoing(() => void callback()),
      guard,
    );
    return { guard, first, run: () => instance.processEvent(input, [], []) };
  }

  it('that counts lets calls through, and tells of the first of each kind', () => {
    const seen: unknown[] = [];
    const { guard, first, run } = guarded('count', () => {
      seen.push(Date.now(), Date.now(), new Date(), Math.random(), process.env['PATH']);
    });
    run();
    run();
    expect(seen).toHaveLength(10);
    expect(seen[2]).toBeInstanceOf(Date);
    expect(seen[4]).toBe(process.env['PATH']);
    expect(first.map(({ call }) => call)).toEqual([
      'Date.now()',
      'new Date()',
      'Math.random()',
      'process.env.PATH',
    ]);
    expect(first[0]?.stack).toContain('determinism-guard.test.ts');
    expect(guard.takeCalls()).toBe(10);
    expect(guard.takeCalls()).toBe(0);
  });

  it('that counts counts a call once, whatever Node does to answer it', () => {
    const { guard, run } = guarded('count', () => {
      request({ port }).on('error', () => undefined);
      readFileSync(import.meta.filename);
      execSync('true');
    });
    run();
    expect(guard.takeCalls()).toBe(3);
  });

  it('that counts bounds the kinds that it tells apart', () => {
    const { guard, first, run } = guarded('count', () => {
      for (let at = 0; at < 1_000; at += 1) void process.env[`VARIABLE_${at}`];
    });
    run();
    expect(first).toHaveLength(100);
    expect(guard.takeCalls()).toBe(1_000);
  });

  it('that is strict counts what it refuses', () => {
    const { guard, run } = guarded('strict', () => Date.now());
    expect(run).toThrow(NonDeterministicOperatorError);
    expect(run).toThrow(NonDeterministicOperatorError);
    expect(guard.takeCalls()).toBe(2);
  });

  it('watches its own operator only', () => {
    const unwatched = createOperatorInstance(operatorDoing(() => void Date.now()));
    const { guard, run } = guarded('strict', () => unwatched.processEvent(input, [], []));
    run();
    expect(guard.takeCalls()).toBe(0);
  });

  it('watches again when an operator within the operator is done', () => {
    const unwatched = createOperatorInstance(operatorDoing(() => undefined));
    const { run } = guarded('strict', () => {
      unwatched.processEvent(input, [], []);
      Date.now();
    });
    expect(run).toThrow(NonDeterministicOperatorError);
  });

  it('fails a callback that awaits, and does not watch what goes on behind it', async () => {
    let later: unknown;
    const operator = operatorDoing(async () => {
      await Promise.resolve();
      later = Date.now();
    });
    expect(() => createOperatorDriver(operator).send({})).toThrow('returned a promise');
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(later).toBeTypeOf('number');
  });
});
