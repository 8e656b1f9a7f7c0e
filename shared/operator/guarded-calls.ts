import type { PlatformCall } from './determinism-guard.ts';

/*
 * What differs between two runs over the same records, as data, with what to do instead. eslint.config.js bans the same
 * where it can see it; this is for what it cannot see.
 */

type Remedy = Pick<PlatformCall, 'remedy' | 'isUsedByNode'>;

// The hot ones: Node has its own ways to clock and dice, so that nobody has to ask who calls.
export const clock: Remedy = {
  remedy: "use ctx.now(), the event's arrival time",
  isUsedByNode: false,
};
const dice: Remedy = {
  remedy: "use ctx.random(), which is seeded by the event's key and position",
  isUsedByNode: false,
};
const timers: Remedy = {
  remedy: 'use ctx.timers, which fire by the time of the events, the same in every replay',
  isUsedByNode: true,
};
const later: Remedy = {
  remedy: 'do it at once; what runs after the callback is in no replay',
  isUsedByNode: true,
};
export const network: Remedy = {
  remedy: 'a replay may get another answer; put what is needed into the event, or into ctx.state',
  isUsedByNode: true,
};
const files: Remedy = {
  remedy: 'a replay may find another file; read it when the module loads, or put it into the event',
  isUsedByNode: true,
};
export const machine: Remedy = {
  remedy: 'a replay may run elsewhere; read it when the module loads, or put it into the event',
  isUsedByNode: true,
};

/** An object with functions that an operator must not call. */
export interface GuardedPlace {
  /** What a message puts before the name of a function. */
  readonly prefix: string;
  /** Undefined where this platform has no such object. */
  readonly find: () => object | undefined;
  /** `all`: every function that is no class. */
  readonly names: readonly string[] | 'all';
  /** Undefined for functions that are allowed, although they call some that are not. */
  readonly remedy: Remedy | undefined;
}

// By name: this layer may not use these globals, and modules of Node may not be imported here.
const global = (name: string) => (): object | undefined =>
  Reflect.get(globalThis, name) as object | undefined;

const builtin = (name: string) => (): object | undefined => {
  const { getBuiltinModule } = Reflect.get(globalThis, 'process') as {
    getBuiltinModule: (id: string) => object | undefined;
  };
  return getBuiltinModule(`node:${name}`);
};

const temporal = (): object | undefined => {
  const found = Reflect.get(globalThis, 'Temporal') as { readonly Now: object } | undefined;
  return found?.Now;
};

const webDice = ['randomUUID', 'getRandomValues'];
const cryptoDice = ['randomUUID', 'randomUUIDv7', 'randomBytes', 'pseudoRandomBytes', 'randomInt']
  .concat(['randomFill', 'randomFillSync', 'generateKey', 'generateKeySync', 'generateKeyPair'])
  .concat(['generateKeyPairSync', 'generatePrime', 'generatePrimeSync']);
const timerNames = ['setTimeout', 'setInterval', 'setImmediate'];
const processClock = ['hrtime', 'uptime', 'cpuUsage', 'threadCpuUsage', 'resourceUsage'];
const processState = ['memoryUsage', 'availableMemory', 'constrainedMemory', 'cwd'];

/** What tests put stand-ins in the place of. */
export const guardedGlobals: readonly GuardedPlace[] = [
  { prefix: 'Date.', find: global('Date'), names: ['now'], remedy: clock },
  { prefix: 'Temporal.Now.', find: temporal, names: 'all', remedy: clock },
  {
    prefix: 'performance.',
    find: global('performance'),
    names: ['now', 'timeOrigin', 'mark', 'measure'],
    remedy: clock,
  },
  { prefix: 'process.', find: global('process'), names: processClock, remedy: clock },
  {
    prefix: 'process.hrtime.',
    find: () => Reflect.get(global('process')() ?? {}, 'hrtime') as object | undefined,
    names: ['bigint'],
    remedy: clock,
  },
  { prefix: 'Math.', find: global('Math'), names: ['random'], remedy: dice },
  { prefix: 'crypto.', find: global('crypto'), names: webDice, remedy: dice },
  { prefix: '', find: global('globalThis'), names: timerNames, remedy: timers },
  { prefix: '', find: global('globalThis'), names: ['queueMicrotask'], remedy: later },
  { prefix: 'process.', find: global('process'), names: ['nextTick'], remedy: later },
  { prefix: '', find: global('globalThis'), names: ['fetch'], remedy: network },
  { prefix: 'process.', find: global('process'), names: processState, remedy: machine },
  // A log line is no result. Loggers look at the clock (Lambda's console does), and streams schedule.
  { prefix: 'console.', find: global('console'), names: 'all', remedy: undefined },
];

export const guardedModules: readonly GuardedPlace[] = [
  { prefix: 'crypto.', find: builtin('crypto'), names: cryptoDice, remedy: dice },
  { prefix: 'timers.', find: builtin('timers'), names: timerNames, remedy: timers },
  {
    prefix: 'timers.promises.',
    find: builtin('timers/promises'),
    names: timerNames,
    remedy: timers,
  },
  { prefix: 'http.', find: builtin('http'), names: ['request', 'get'], remedy: network },
  { prefix: 'https.', find: builtin('https'), names: ['request', 'get'], remedy: network },
  { prefix: 'http2.', find: builtin('http2'), names: ['connect'], remedy: network },
  { prefix: 'net.', find: builtin('net'), names: ['connect', 'createConnection'], remedy: network },
  { prefix: 'tls.', find: builtin('tls'), names: ['connect'], remedy: network },
  { prefix: 'dgram.', find: builtin('dgram'), names: ['createSocket'], remedy: network },
  { prefix: 'dns.', find: builtin('dns'), names: 'all', remedy: network },
  { prefix: 'dns.promises.', find: builtin('dns/promises'), names: 'all', remedy: network },
  { prefix: 'child_process.', find: builtin('child_process'), names: 'all', remedy: network },
  { prefix: 'fs.', find: builtin('fs'), names: 'all', remedy: files },
  { prefix: 'fs.promises.', find: builtin('fs/promises'), names: 'all', remedy: files },
  { prefix: 'os.', find: builtin('os'), names: 'all', remedy: machine },
];

/** Globals that open a connection when they are constructed. */
export const guardedConstructors = ['WebSocket', 'EventSource', 'XMLHttpRequest'];

/** Variables that say what the code is, not where it runs: libraries ask for them all the time. */
export const allowedVariables: ReadonlySet<string> = new Set(['NODE_ENV']);
