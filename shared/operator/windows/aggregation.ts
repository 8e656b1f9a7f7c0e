import type { Aggregator } from '../aggregator.ts';

/** What is computed of a window: one aggregate, or several, each under a name. */
export type Aggregation<In> =
  Aggregator<In, unknown, unknown> | Readonly<Record<string, Aggregator<In, unknown, unknown>>>;

/** What an aggregation gives: the aggregate's result, or an object of them. */
export type AggregationResult<A> =
  A extends Aggregator<infer _In, infer _Accumulator, infer Out>
    ? Out
    : {
        readonly [Name in keyof A]: A[Name] extends Aggregator<
          infer _In,
          infer _Accumulator,
          infer Out
        >
          ? Out
          : never;
      };

/** One aggregator for all of an aggregation. It can merge if all of them can. */
export function toAggregator<In>(aggregation: Aggregation<In>): Aggregator<In, unknown, unknown> {
  return isAggregator(aggregation) ? aggregation : combineAggregators(aggregation);
}

/** The names of the aggregates that cannot merge; empty names the only one. */
export function listUnmergeable(aggregation: Aggregation<never>): string[] {
  if (isAggregator(aggregation)) return aggregation.merge === undefined ? [''] : [];
  const named = Object.entries(aggregation);
  return named.filter(([, one]) => one.merge === undefined).map(([name]) => name);
}

function isAggregator<In>(
  aggregation: Aggregation<In>,
): aggregation is Aggregator<In, unknown, unknown> {
  return typeof aggregation['create'] === 'function';
}

/** Accumulators lie under the names of their aggregates. One that is new finds nothing in windows from before: it begins. */
function combineAggregators<In>(
  aggregators: Readonly<Record<string, Aggregator<In, unknown, unknown>>>,
): Aggregator<In, Accumulators, unknown> {
  const entries = Object.entries(aggregators);
  const read = (accumulators: Accumulators, name: string): unknown =>
    accumulators[name] === undefined ? aggregators[name]!.create() : accumulators[name];
  const combined: Aggregator<In, Accumulators, unknown> = {
    create: () => ({}),
    add: (accumulators, input) => {
      for (const [name, one] of entries) {
        accumulators[name] = one.add(read(accumulators, name), input);
      }
      return accumulators;
    },
    result: (accumulators) =>
      Object.fromEntries(
        entries.map(([name, one]) => [name, one.result(read(accumulators, name))]),
      ),
  };
  if (listUnmergeable(aggregators).length > 0) return combined;
  return {
    ...combined,
    merge: (a, b) => {
      for (const [name, one] of entries) a[name] = one.merge?.(read(a, name), read(b, name));
      return a;
    },
  };
}

type Accumulators = Record<string, unknown>;
