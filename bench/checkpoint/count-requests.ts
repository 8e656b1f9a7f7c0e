/** Requests to ports, by port. */
export type RequestCounts = Map<string, number>;

/** The same port; each call of it is counted under a name. */
export function countRequests<Port extends object>(
  name: string,
  port: Port,
  counts: RequestCounts,
): Port {
  return new Proxy(port, {
    get(target, property, receiver) {
      const member: unknown = Reflect.get(target, property, receiver);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): unknown => {
        counts.set(name, (counts.get(name) ?? 0) + 1);
        return Reflect.apply(member, target, args);
      };
    },
  });
}

export function totalOf(counts: RequestCounts): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}
