import { callThrough, type Callable, type PlatformCall } from './determinism-guard.ts';
import { allowedVariables, clock, machine, network } from './guarded-calls.ts';

/* What is in the place of what one constructs or looks into. */

/**
 * Is what Date is, but for the current time. It makes real dates, with the real prototype.
 *
 * Name, length and prototype come from how it is written, not from defineProperty, after which V8 needs five times as long
 * for `instanceof`: rows are checked for dates in every record.
 */
export function guardDate(real: DateConstructor): Callable {
  const newDate: PlatformCall = { name: 'new Date()', ...clock };
  const text: PlatformCall = { name: 'Date()', ...clock };
  const { Date: standIn } = {
    // eslint-disable-next-line max-params -- as many as Date has
    Date: function (this: void, _1: 0, _2: 0, _3: 0, _4: 0, _5: 0, _6: 0, _7: 0): unknown {
      const target = new.target as Callable | undefined;
      if (target === undefined) return callThrough(text, standIn, () => real());
      // eslint-disable-next-line prefer-rest-params -- a function's length does not count rest parameters
      const given: ArrayLike<unknown> = arguments;
      const construct = (): unknown => Reflect.construct(real, given, target);
      if (given.length === 0) return callThrough(newDate, standIn, construct);
      return target === standIn && given.length === 1 ? new real(_1) : construct();
    },
  };
  Object.setPrototypeOf(standIn, real);
  standIn.prototype = real.prototype;
  return standIn;
}

/** A class that opens a connection when it is constructed. */
export function guardConstructor(name: string, real: object): object {
  const call: PlatformCall = { name: `new ${name}()`, ...network };
  const construct = (target: Callable, args: unknown[], newTarget: Callable): object =>
    callThrough(call, construct, () => Reflect.construct(target, args, newTarget) as object);
  return new Proxy(real as Callable, { construct });
}

type Variables = Record<string, string | undefined>;

/** Environment variables, whose readers are named. */
export function guardVariables(real: object): object {
  const note = (name: string | symbol | undefined, above: Callable): void => {
    if (typeof name === 'symbol' || (name !== undefined && allowedVariables.has(name))) return;
    const written = name === undefined ? 'process.env' : `process.env.${name}`;
    callThrough({ name: written, ...machine }, above, () => undefined);
  };
  const get = (target: Variables, name: string | symbol): unknown => {
    note(name, get);
    return Reflect.get(target, name);
  };
  const set = (target: Variables, name: string | symbol, value: unknown): boolean => {
    note(name, set);
    return Reflect.set(target, name, value);
  };
  const has = (target: Variables, name: string | symbol): boolean => {
    note(name, has);
    return Reflect.has(target, name);
  };
  const deleteProperty = (target: Variables, name: string | symbol): boolean => {
    note(name, deleteProperty);
    return Reflect.deleteProperty(target, name);
  };
  const ownKeys = (target: Variables): (string | symbol)[] => {
    note(undefined, ownKeys);
    return Reflect.ownKeys(target);
  };
  return new Proxy(real as Variables, { get, set, has, deleteProperty, ownKeys });
}
