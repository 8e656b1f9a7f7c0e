import { callThrough, running, shareInProcess } from './determinism-guard.ts';
import type { Callable, PlatformCall } from './determinism-guard.ts';
import {
  guardedConstructors,
  guardedGlobals,
  guardedModules,
  type GuardedPlace,
} from './guarded-calls.ts';
import { guardConstructor, guardDate, guardVariables } from './stand-ins.ts';

/*
 * Puts the guard before the platform. Functions and Date are wrapped in place; of process.env and of the classes that open
 * connections operators see a stand-in, and everybody else the real thing. Outside of operators nothing behaves
 * differently.
 */

/** A property descriptor as `unknown` has it. */
interface Descriptor {
  readonly configurable?: boolean;
  readonly enumerable?: boolean;
  readonly writable?: boolean;
  readonly value?: unknown;
  readonly get?: (this: unknown) => unknown;
  readonly set?: (this: unknown, value: unknown) => void;
}

type Undo = (guarded: Descriptor) => Descriptor;

interface Replacements {
  /** For each function or getter of ours: what the property that has it is without it. */
  readonly undos: WeakMap<object, Undo>;
  /** By the real function, so that what was one function under two names stays one. */
  readonly wrappers: WeakMap<object, Callable>;
  areModulesGuarded: boolean;
}

const replacements = shareInProcess<Replacements>('replacements', () => ({
  undos: new WeakMap(),
  wrappers: new WeakMap(),
  areModulesGuarded: false,
}));
const { undos, wrappers } = replacements;

/** A property, and the object in the prototype chain that has it. */
interface Property {
  readonly owner: object;
  readonly name: string;
  readonly descriptor: Descriptor;
}

/**
 * Guards the platform, once for the process: operators that have a guard of their own are then watched. A second call
 * guards the globals that have been replaced in the meantime, by fake timers for instance, and leaves the rest as it is.
 */
export function guardPlatform(): void {
  let isChanged = false;
  for (const place of guardedGlobals) isChanged = guardPlace(place) || isChanged;
  guardClock();
  guardValue(theProcess(), 'env', guardVariables);
  if (!replacements.areModulesGuarded) {
    for (const place of guardedModules) isChanged = guardPlace(place) || isChanged;
    replacements.areModulesGuarded = true;
  }
  if (isChanged) publishToImports();
}

/**
 * Guards the classes that open connections. Apart from the rest, for where time does not matter: Node loads its WebSocket
 * when somebody looks at it, and that takes longer than everything else here.
 */
export function guardConnections(): void {
  for (const name of guardedConstructors) {
    guardValue(globalThis, name, (real) => guardConstructor(name, real));
  }
}

/** Takes the guard away where it is still in place; for tests of the guard. */
export function unguardPlatform(): void {
  restoreProperty(findProperty(Date.prototype, 'constructor'));
  for (const name of ['Date', ...guardedConstructors]) {
    restoreProperty(findProperty(globalThis, name));
  }
  restoreProperty(findProperty(theProcess(), 'env'));
  for (const { find, names } of [...guardedGlobals, ...guardedModules]) {
    for (const property of listProperties(find(), names)) restoreProperty(property);
  }
  replacements.areModulesGuarded = false;
  publishToImports();
}

function guardPlace({ prefix, find, names, remedy }: GuardedPlace): boolean {
  let isChanged = false;
  for (const property of listProperties(find(), names)) {
    const { owner, name, descriptor } = property;
    const part = descriptor.get === undefined ? 'value' : 'get';
    const real: unknown = descriptor[part];
    if (typeof real !== 'function' || undos.has(real) || descriptor.configurable !== true) continue;
    const written = `${prefix}${name}${part === 'get' ? '' : '()'}`;
    const wrapper = wrap(real as Callable, remedy && { name: written, ...remedy });
    undos.set(wrapper, (guarded) => ({ ...guarded, [part]: real }));
    Object.defineProperty(owner, name, { ...descriptor, [part]: wrapper });
    isChanged = true;
  }
  return isChanged;
}

/** Not by a getter: rows are checked for dates in every record, and getters of globals are slow. */
function guardClock(): void {
  const real = globalThis.Date;
  if (undos.has(real)) return;
  const wrapper = wrappers.get(real) ?? guardDate(real);
  wrappers.set(real, wrapper);
  undos.set(wrapper, (guarded) => ({ ...guarded, value: real }));
  // `date.constructor === Date` must stay true.
  Object.defineProperty(real.prototype, 'constructor', { value: wrapper });
  Object.defineProperty(globalThis, 'Date', { value: wrapper });
}

function wrap(real: Callable, call: PlatformCall | undefined): Callable {
  const known = wrappers.get(real);
  if (known !== undefined) return known;
  const wrapper = function (this: unknown, ...args: never[]): unknown {
    if (running.guard === undefined) return Reflect.apply(real, this, args) as unknown;
    return callThrough(call, wrapper, () => Reflect.apply(real, this, args) as unknown);
  };
  // What the function carries (hrtime.bigint, the promise of setTimeout, what a test's spy has seen) is still found.
  Object.setPrototypeOf(wrapper, real);
  Object.defineProperty(wrapper, 'name', { value: real.name, configurable: true });
  Object.defineProperty(wrapper, 'length', { value: real.length, configurable: true });
  wrappers.set(real, wrapper);
  return wrapper;
}

/** Lets operators see a stand-in for the value of a property. Whoever assigns another value has it guarded, too. */
function guardValue(start: object, name: string, standInFor: (real: object) => object): void {
  const property = findProperty(start, name);
  if (property === undefined) return;
  const { owner, descriptor } = property;
  if (descriptor.configurable !== true) return;
  if (descriptor.get !== undefined && undos.has(descriptor.get)) return;
  let value: unknown = descriptor.value;
  let real: unknown;
  let standIn: unknown;
  const read = descriptor.get === undefined ? () => value : descriptor.get.bind(owner);
  const get = (): unknown => {
    const current: unknown = read();
    if (running.guard === undefined) return current;
    if (current !== real) {
      real = current;
      standIn = isObject(current) ? standInFor(current) : current;
    }
    return standIn;
  };
  const set = (assigned: unknown): void => {
    if (descriptor.get === undefined) value = assigned;
    else descriptor.set?.call(owner, assigned);
  };
  undos.set(get, () => (descriptor.get === undefined ? { ...descriptor, value } : descriptor));
  Object.defineProperty(owner, name, {
    configurable: true,
    enumerable: descriptor.enumerable === true,
    get,
    set,
  });
}

function listProperties(place: object | undefined, names: readonly string[] | 'all'): Property[] {
  if (place === undefined) return [];
  if (names !== 'all') return names.flatMap((name) => findProperty(place, name) ?? []);
  return Object.entries(Object.getOwnPropertyDescriptors(place)).flatMap(([name, descriptor]) =>
    /^[a-z]/.test(name) && descriptor.get === undefined ? { owner: place, name, descriptor } : [],
  );
}

function findProperty(start: object, name: string): Property | undefined {
  for (let owner: object | null = start; owner !== null;) {
    const descriptor = Object.getOwnPropertyDescriptor(owner, name) as Descriptor | undefined;
    if (descriptor !== undefined) return { owner, name, descriptor };
    owner = Object.getPrototypeOf(owner) as object | null;
  }
  return undefined;
}

function restoreProperty(property: Property | undefined): void {
  if (property === undefined) return;
  const { owner, name, descriptor } = property;
  const ours: unknown = descriptor.get ?? descriptor.value;
  const undo = isObject(ours) ? undos.get(ours) : undefined;
  if (undo !== undefined) Object.defineProperty(owner, name, undo(descriptor));
}

function isObject(value: unknown): value is object {
  return typeof value === 'function' || (typeof value === 'object' && value !== null);
}

function theProcess(): object {
  return Reflect.get(globalThis, 'process');
}

/** Without it `import { readFileSync } from 'node:fs'` would still be the real function. */
function publishToImports(): void {
  const { getBuiltinModule } = theProcess() as {
    getBuiltinModule: (id: string) => { syncBuiltinESMExports(): void };
  };
  getBuiltinModule('node:module').syncBuiltinESMExports();
}
