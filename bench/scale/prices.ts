/*
 * What the model counts with. Change what is not yours: another region, another commitment. List prices of us-east-1 in USD, as they
 * stood in November 2026; free tiers, discounts, logs and transfer are not in them.
 */

export interface Prices {
  readonly dynamodbMillionWriteUnits: number;
  readonly dynamodbMillionReadUnits: number;
  readonly s3ThousandPuts: number;
  readonly s3ThousandGets: number;
  readonly lambdaMillionRequests: number;
  /** Of arm64. */
  readonly lambdaGigabyteSecond: number;
  readonly kinesisShardHour: number;
  /** A unit is 25 KB of a record, begun. */
  readonly kinesisMillionPutUnits: number;
}

export const prices: Prices = {
  dynamodbMillionWriteUnits: 0.625,
  dynamodbMillionReadUnits: 0.125,
  s3ThousandPuts: 0.005,
  s3ThousandGets: 0.0004,
  lambdaMillionRequests: 0.2,
  lambdaGigabyteSecond: 0.0000133334,
  kinesisShardHour: 0.015,
  kinesisMillionPutUnits: 0.014,
};

/** What AWS allows, and how long it takes; each is documented by AWS or, where it says so, was assumed. */
export interface ServiceLimits {
  /** Of one value of a partition key, as long as DynamoDB has not split it, units a second. */
  readonly partitionWriteUnits: number;
  readonly partitionReadUnits: number;
  /** Of a table, units a second, until somebody asks for more. */
  readonly tableWriteUnits: number;
  /** DescribeStreamSummary of an account, requests a second. */
  readonly describesOfAccount: number;
  /** One GetItem and one small GET from a function, ms. Assumed. */
  readonly getItemMs: number;
  readonly getObjectMs: number;
  /** What one coordinator merges, bytes of entries a second. Assumed; the bench `checkpoint` says it of a machine (`compact`). */
  readonly mergeBytesPerSecond: number;
}

export const serviceLimits: ServiceLimits = {
  partitionWriteUnits: 1_000,
  partitionReadUnits: 3_000,
  tableWriteUnits: 40_000,
  describesOfAccount: 20,
  getItemMs: 5,
  getObjectMs: 25,
  mergeBytesPerSecond: 10e6,
};
