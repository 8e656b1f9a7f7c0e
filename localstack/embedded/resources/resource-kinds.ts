import { customResource } from './custom-resource.ts';
import { dynamodbTable } from './dynamodb-table.ts';
import { eventSourceMappingResource } from './event-source-mapping-resource.ts';
import { functionResource } from './function-resource.ts';
import { keptResources } from './kept-resources.ts';
import { kinesisStream } from './kinesis-stream.ts';
import type { ResourceKind } from './resource-kind.ts';
import { s3Bucket } from './s3-bucket.ts';
import { scheduleResource } from './schedule-resource.ts';
import { stateMachine } from './state-machine.ts';

const kinds: Readonly<Record<string, ResourceKind>> = {
  ...keptResources,
  'AWS::CloudFormation::CustomResource': customResource,
  'AWS::DynamoDB::Table': dynamodbTable,
  'AWS::Kinesis::Stream': kinesisStream,
  'AWS::Lambda::EventSourceMapping': eventSourceMappingResource,
  'AWS::Lambda::Function': functionResource,
  'AWS::S3::Bucket': s3Bucket,
  'AWS::Scheduler::Schedule': scheduleResource,
  'AWS::StepFunctions::StateMachine': stateMachine,
};

/** Undefined for a type that the local AWS does not know. */
export function findResourceKind(type: string): ResourceKind | undefined {
  if (type.startsWith('Custom::')) return customResource;
  return Object.hasOwn(kinds, type) ? kinds[type] : undefined;
}

export function knownResourceTypes(): string[] {
  return [...Object.keys(kinds), 'Custom::*'].sort();
}
