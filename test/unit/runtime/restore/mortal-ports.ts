import type { RestorePorts } from '../../../../shared/runtime/restore/restore-order.ts';

/** Thrown by every call from the moment of death on. */
export class Death extends Error {
  override readonly name = 'Death';
}

export interface MortalPorts {
  readonly ports: RestorePorts;
  /** Calls so far. */
  readonly calls: () => number;
}

/**
 * The ports of a process that dies at its n-th call: before the call, or after it is done and before its reply is seen. From
 * then on nothing that the process does has an effect.
 */
export function makeMortal(
  ports: RestorePorts,
  diesAt: number,
  moment: 'before' | 'after',
): MortalPorts {
  let calls = 0;
  const wrap = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get(target, name, receiver) {
        const member: unknown = Reflect.get(target, name, receiver);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]): unknown => {
          calls += 1;
          const call = calls;
          if (call > diesAt || (call === diesAt && moment === 'before')) throw new Death();
          const result: unknown = Reflect.apply(member, target, args);
          if (!(result instanceof Promise)) return result;
          return result.then((value: unknown) => {
            if (call >= diesAt) throw new Death();
            return value;
          });
        };
      },
    });
  const { control, objects, state, hints, reader, cloned } = ports;
  return {
    ports: {
      ...ports,
      control: wrap(control),
      objects: wrap(objects),
      state: wrap(state),
      hints: wrap(hints),
      reader: wrap(reader),
      calls: wrap(ports.calls),
      sinks: ports.sinks.map((one) => ({ ...one, table: wrap(one.table), sink: wrap(one.sink) })),
      ...(cloned === undefined
        ? {}
        : {
            cloned: {
              ...cloned,
              control: wrap(cloned.control),
              objects: wrap(cloned.objects),
            },
          }),
    },
    calls: () => calls,
  };
}
