/** The products whose port this project's tools know. */
export type Product = 'localstack' | 'ministack' | 'floci';

export const products = ['localstack', 'ministack', 'floci'] as const satisfies readonly Product[];

export const productNames: Readonly<Record<Product, string>> = {
  localstack: 'LocalStack',
  ministack: 'MiniStack',
  floci: 'Floci',
};

/**
 * The page by which each tells that it is there, in the order in which they are asked: those that stand in for LocalStack
 * answer on its page, too.
 */
export const healthPages: readonly (readonly [Product, string])[] = [
  ['ministack', '/_ministack/health'],
  ['floci', '/_floci/health'],
  ['localstack', '/_localstack/health'],
];
