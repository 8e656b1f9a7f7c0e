/** A store that can lose everything at once, as a table does that somebody deletes and makes again. */
export interface LossyStore<Store> {
  readonly store: Store;
  /** Whoever has the store sees an empty one from now on. */
  lose(): void;
}

export function createLossyStore<Store extends object>(make: () => Store): LossyStore<Store> {
  let current = make();
  const calls = Object.entries(current).map(([name, value]: [string, unknown]) =>
    typeof value === 'function' ? [name, (...args: unknown[]) => call(name, args)] : [name, value],
  );
  const call = (name: string, args: readonly unknown[]): unknown =>
    (Reflect.get(current, name) as (...args: readonly unknown[]) => unknown)(...args);
  return {
    store: Object.fromEntries(calls) as Store,
    lose: () => void (current = make()),
  };
}
