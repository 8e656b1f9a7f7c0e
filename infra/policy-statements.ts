import { Grant, type IGrantable, PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import { Aws, Stack, Validations } from 'aws-cdk-lib/core';
import type { GrantedResource, Permission } from './permissions.ts';

export type ResourceArns = Partial<Readonly<Record<GrantedResource, readonly string[]>>>;

/** Gives a role of the job its rights, with the reason of each that is about a pattern. */
export function allow(
  role: Role,
  permissions: readonly Permission[],
  resourceArns: ResourceArns,
): void {
  for (const { statement, why } of writeStatements(permissions, resourceArns)) {
    role.addToPolicy(statement);
    acknowledgePatterns(role, statement, why);
  }
}

/** Gives somebody else rights, whatever kind of principal that is. */
export function grant(
  grantee: IGrantable,
  permissions: readonly Permission[],
  resourceArns: ResourceArns,
): Grant {
  return writeStatements(permissions, resourceArns)
    .map(({ statement: { actions, resources, conditions } }) =>
      Grant.addToPrincipal({
        ...{ grantee, actions, resourceArns: resources },
        ...{ conditions: conditions as Record<string, Record<string, unknown>> },
      }),
    )
    .reduce((all, one) => all.combine(one));
}

/** One statement for each permission whose resource exists in this deployment. */
function writeStatements(permissions: readonly Permission[], resourceArns: ResourceArns) {
  return permissions.flatMap(({ on, actions, through, why }) => {
    const resources = resourceArns[on] ?? [];
    if (resources.length === 0) return [];
    const statement = new PolicyStatement({
      actions: [...actions],
      resources: [...resources],
      ...(through !== undefined && { conditions: viaServices(through) }),
    });
    return [{ statement, why }];
  });
}

const viaServices = (services: readonly string[]) => ({
  StringEquals: {
    'kms:ViaService': services.map((name) => `${name}.${Aws.REGION}.${Aws.URL_SUFFIX}`),
  },
});

/** The rule of cdk-nag about patterns; users who check their app with it find the reason, and no finding. */
const PATTERN_RULE = 'AwsSolutions-IAM5';

function acknowledgePatterns(role: Role, { resources }: PolicyStatement, why: string): void {
  for (const resource of resources) {
    const text = flattenReference(Stack.of(role).resolve(resource));
    if (!text.includes('*')) continue;
    Validations.of(role).acknowledge({ id: `${PATTERN_RULE}[Resource::${text}]`, reason: why });
  }
}

/** As cdk-nag spells what refers to other resources: `<Bucket.Arn>/jobs/*`. */
function flattenReference(value: unknown): string {
  if (typeof value === 'string') return value;
  const [[name, argument] = ['', '']] = Object.entries(value as Record<string, unknown>);
  if (name === 'Ref') return `<${String(argument)}>`;
  if (name === 'Fn::GetAtt') return `<${(argument as string[]).join('.')}>`;
  if (name !== 'Fn::Join') return JSON.stringify(value);
  const [separator, parts] = argument as [string, unknown[]];
  return parts.map(flattenReference).join(separator);
}
