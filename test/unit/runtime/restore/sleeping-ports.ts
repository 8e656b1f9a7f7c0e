import type {
  RestoreOrder,
  RestorePorts,
} from '../../../../shared/runtime/restore/restore-order.ts';

/** A process that stops in front of one of its calls until it is woken. */
export interface Sleeper {
  /** Wraps one port of the process. What gives rows or pages one by one passes: it has no effect to be late with. */
  wrap<Port extends object>(port: Port): Port;
  /** True once it has fallen asleep; false where the process comes to its end without. */
  fallsAsleep(process: Promise<unknown>): Promise<boolean>;
  wake(): void;
}

/** @param isBedtime is asked before each call; the first one for which it says yes is where the process sleeps */
export function createSleeper(isBedtime: (call: string, count: number) => boolean): Sleeper {
  let count = 0;
  let hasSlept = false;
  const dawn = Promise.withResolvers<undefined>();
  const dusk = Promise.withResolvers<undefined>();
  const sleepBefore =
    (target: object, name: string, member: (...args: unknown[]) => unknown) =>
    (...args: unknown[]): unknown => {
      if (isStream(target, name)) return Reflect.apply(member, target, args);
      count += 1;
      if (hasSlept || !isBedtime(name, count)) return Reflect.apply(member, target, args);
      hasSlept = true;
      dusk.resolve(undefined);
      return dawn.promise.then((): unknown => Reflect.apply(member, target, args));
    };
  return {
    wrap: (port) =>
      new Proxy(port, {
        get(target, name, receiver) {
          const member: unknown = Reflect.get(target, name, receiver);
          if (typeof member !== 'function') return member;
          return sleepBefore(target, String(name), member as (...args: unknown[]) => unknown);
        },
      }),
    fallsAsleep: (process) =>
      Promise.race([
        dusk.promise.then(() => true),
        process.then(
          () => false,
          () => false,
        ),
      ]),
    wake: () => {
      dawn.resolve(undefined);
    },
  };
}

function isStream(port: object, call: string): boolean {
  if (call === 'scan' || call === 'list') return true;
  return call === 'read' && 'listShards' in port;
}

/** The ports of a restore that sleeps. */
export function sleepIn(sleeper: Sleeper, ports: RestorePorts): RestorePorts {
  const { control, objects, state, hints, reader, calls, sinks, cloned } = ports;
  return {
    ...ports,
    control: sleeper.wrap(control),
    objects: sleeper.wrap(objects),
    state: sleeper.wrap(state),
    hints: sleeper.wrap(hints),
    reader: sleeper.wrap(reader),
    calls: sleeper.wrap(calls),
    sinks: sinks.map((one) => ({
      ...one,
      table: sleeper.wrap(one.table),
      sink: sleeper.wrap(one.sink),
    })),
    ...(cloned === undefined
      ? {}
      : {
          cloned: {
            ...cloned,
            control: sleeper.wrap(cloned.control),
            objects: sleeper.wrap(cloned.objects),
          },
        }),
  };
}

export const orderOf = (manifest: string, restore = 'r1'): RestoreOrder => ({
  restore,
  manifest,
  allowNonRestoredState: false,
  acceptsGaps: false,
  areTablesLost: false,
});
