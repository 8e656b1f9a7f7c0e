import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { KinesisClient } from '@aws-sdk/client-kinesis';
import type { S3Client } from '@aws-sdk/client-s3';

import type { EventSourceMapping } from '../event-source/event-source-mapping.ts';
import type { MappingPace } from '../event-source/shard-poller.ts';
import type { LambdaFunction, LambdaHost } from '../lambda/lambda-function.ts';
import type { EmbeddedSchedule } from '../scheduler/schedule.ts';
import type { StateMachines } from '../step-functions/state-machines.ts';
import type { AssetsManifest } from '../template/assets-manifest.ts';
import type { ResourceReference } from '../template/intrinsics.ts';
import type { StackPlace } from '../template/parameters.ts';
import type { PropertyReader } from '../template/property-reader.ts';
import type { PropertyTable } from '../template/property-table.ts';

/** All that creating a resource may use, and where functions, mappings and schedules are kept for later. */
export interface StackServices {
  readonly place: StackPlace;
  readonly kinesis: KinesisClient;
  readonly dynamodb: DynamoDBClient;
  readonly s3: S3Client;
  readonly assets: AssetsManifest;
  readonly lambdaHost: LambdaHost;
  readonly pace: MappingPace;
  readonly nowMs: () => number;
  /** Functions created so far, by logical id. */
  readonly functions: Map<string, LambdaFunction>;
  readonly mappings: EventSourceMapping[];
  readonly stateMachines: StateMachines;
  readonly schedules: EmbeddedSchedule[];
  /** How many times as fast as on AWS schedules tick; 0 for never. */
  readonly scheduleSpeed: number;
}

export interface ResourceRequest {
  readonly logicalId: string;
  readonly type: string;
  /** Resolved, and checked against the kind's table. */
  readonly properties: PropertyReader;
}

/** How the local AWS treats one resource type. */
export interface ResourceKind {
  /** `any`: the properties belong to somebody else, as those of a custom resource do. */
  readonly properties: PropertyTable | 'any';
  create(request: ResourceRequest, services: StackServices): Promise<ResourceReference>;
}
