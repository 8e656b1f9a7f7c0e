/**
 * The same object with every call of its functions noted as `<name>.<function>`, before it is made. Iterators count as
 * called when they are asked for.
 */
export function observe<T extends object>(name: string, target: T, calls: string[]): T {
  return new Proxy(target, {
    get(object, property, receiver) {
      const value: unknown = Reflect.get(object, property, receiver);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        calls.push(`${name}.${String(property)}`);
        return Reflect.apply(value, object, args);
      };
    },
  });
}
