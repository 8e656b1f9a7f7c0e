import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { GrantedResource, Permission } from './permissions.ts';

export type ResourceArns = Partial<Readonly<Record<GrantedResource, readonly string[]>>>;

/** One statement for each permission whose resource exists in this deployment. */
export function writeStatements(
  permissions: readonly Permission[],
  arns: ResourceArns,
): PolicyStatement[] {
  return permissions.flatMap(({ on, actions }) => {
    const resources = arns[on] ?? [];
    return resources.length === 0
      ? []
      : [new PolicyStatement({ actions: [...actions], resources: [...resources] })];
  });
}
