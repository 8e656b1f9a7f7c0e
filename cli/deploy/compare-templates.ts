import { isDeepStrictEqual } from 'node:util';
import type { Template, TemplateResource } from './job-template.ts';

/** Something that stands against a deployment, and what to do about it. */
export interface Problem {
  readonly text: string;
  readonly remedy: string;
}

/**
 * What holds data, by type, with the properties that CloudFormation cannot change in place: with another value there, it makes
 * a new and empty resource.
 * Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/ ("Update requires: Replacement")
 */
const keptTypes: Readonly<Record<string, readonly string[]>> = {
  'AWS::DynamoDB::Table': [
    'TableName',
    'KeySchema',
    'LocalSecondaryIndexes',
    'ImportSourceSpecification',
  ],
  'AWS::DynamoDB::GlobalTable': ['TableName', 'KeySchema', 'LocalSecondaryIndexes'],
  'AWS::Kinesis::Stream': ['Name'],
  'AWS::S3::Bucket': ['BucketName'],
  'AWS::KMS::Key': [],
};

/**
 * What holds data and would be lost to the stack, or replaced by an empty one.
 *
 * @param removable logical ids that may go
 */
export function findLostResources(
  deployed: Template,
  next: Template,
  removable: ReadonlySet<string>,
): Problem[] {
  return Object.entries(deployed.Resources).flatMap(([logicalId, before]) => {
    const fixed = keptTypes[before.Type];
    if (fixed === undefined || removable.has(logicalId)) return [];
    const problem = compareKept(logicalId, before, next.Resources[logicalId], fixed);
    return problem === undefined ? [] : [problem];
  });
}

function compareKept(
  logicalId: string,
  before: TemplateResource,
  after: TemplateResource | undefined,
  fixed: readonly string[],
): Problem | undefined {
  const what = `${before.Type} ${logicalId}`;
  if (after?.Type !== before.Type) {
    return {
      text: `${what} would leave the stack, with what it holds`,
      remedy: `keep the ids of the stack, of its StreamJob and of its sinks as they are deployed; if it is to go, say so with --allow-removal ${logicalId}`,
    };
  }
  const changed = fixed.filter(
    (name) => !isDeepStrictEqual(before.Properties?.[name], after.Properties?.[name]),
  );
  if (changed.length === 0) return undefined;
  return {
    text: `${what} would be replaced by an empty one, for ${changed.join(' and ')} is another`,
    remedy: 'leave it as it is deployed; other data takes another resource',
  };
}
