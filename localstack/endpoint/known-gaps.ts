import type { Product } from './products.ts';

/*
 * Where a product is not what AWS documents, as far as this project's laws rest on it, and what the demonstration leaves out for
 * that. The product that is deployed is the same everywhere: nothing in it knows of these. docs/endpoints.md has how each was seen.
 */

export interface KnownGap {
  /** What the product does. */
  readonly gap: string;
  /** What the demonstration does about it. */
  readonly consequence: string;
}

export const knownGaps: Readonly<Record<Product, readonly KnownGap[]>> = {
  ministack: [
    {
      gap: 'its Kinesis trigger takes records that a function hands back for done',
      consequence: 'nothing is put into the stream while a restore holds the job',
    },
    {
      gap: 'its Kinesis trigger starts shards that appear later at their end, and a split shard is gone with its records',
      consequence: 'no shard is split or merged',
    },
    {
      gap: 'its Kinesis trigger calls for one shard after the other, whatever is there, without a batching window',
      consequence: 'times are those of MiniStack, not of the job',
    },
  ],
  localstack: [
    {
      gap: 'its Kinesis trigger knows neither resharding nor bisecting, as its sources say; nothing was measured',
      consequence: 'no shard is split or merged; nothing is put in while a restore holds the job',
    },
  ],
  floci: [
    {
      gap: 'nothing is known of it here',
      consequence: 'no shard is split or merged; nothing is put in while a restore holds the job',
    },
  ],
};
