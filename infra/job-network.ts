import {
  type ISecurityGroup,
  type IVpc,
  Peer,
  Port,
  SecurityGroup,
  type SubnetSelection,
} from 'aws-cdk-lib/aws-ec2';
import { Effect, PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import type { FunctionOptions } from 'aws-cdk-lib/aws-lambda';
import { Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { type ConfigurationProblem, showValue } from '../shared/config/configuration-error.ts';
import type { Permission } from './permissions.ts';
import { allow } from './policy-statements.ts';

/** The network that the functions of a job are attached to. */
export interface VpcProps {
  readonly vpc: IVpc;

  /**
   * Best one in each of two zones. Not public ones: functions get no public address in them.
   *
   * @default - those with a way out through NAT; where there are none, the isolated ones
   */
  readonly subnets?: SubnetSelection;

  /**
   * Of all functions of the job, at least one. They only call out, by HTTPS.
   *
   * @default - one for the job, which lets HTTPS out and nothing in
   */
  readonly securityGroups?: readonly ISecurityGroup[];
}

/**
 * What Lambda needs of the role of a function in a VPC, and the function itself does not.
 * Source: https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html#configuration-vpc-permissions
 */
const VPC_PERMISSIONS: readonly Permission[] = [
  {
    on: 'network',
    actions: ['ec2:DescribeNetworkInterfaces', 'ec2:DescribeSubnets'],
    why: "EC2 knows no resources for what describes: it works for all or for none. Lambda needs it, the function's code is denied it",
  },
  {
    on: 'network-interfaces',
    actions: [
      'ec2:AssignPrivateIpAddresses',
      'ec2:CreateNetworkInterface',
      'ec2:DeleteNetworkInterface',
      'ec2:UnassignPrivateIpAddresses',
    ],
    why: "interfaces have no name before Lambda has created them, so AWS asks for all ids of account and region. Lambda needs it, the function's code is denied it",
  },
];

/** What every function of the job gets. */
export type JobNetwork = Pick<FunctionOptions, 'vpc' | 'vpcSubnets' | 'securityGroups'>;

/** What is wrong with the prop: Node runs the sources without checking their types. */
export function checkVpc(vpc: unknown): ConfigurationProblem[] {
  const groups = fieldOf(vpc, 'securityGroups') ?? ['the one of the job'];
  const hasGroups = Array.isArray(groups) && groups.length > 0;
  if (vpc === undefined || (fieldOf(fieldOf(vpc, 'vpc'), 'vpcId') !== undefined && hasGroups)) {
    return [];
  }
  return [
    {
      name: 'vpc',
      got: hasGroups ? showKind(vpc) : `securityGroups ${showValue(groups)}`,
      expected: 'an object with `vpc`, and perhaps `subnets` and at least one of `securityGroups`',
      remedy: 'as vpc: { vpc: Vpc.fromLookup(this, "Vpc", { vpcId }) }',
    },
  ];
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && name in value
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

/** A construct has a whole app behind it: not for a message. */
function showKind(value: unknown): string {
  return fieldOf(value, 'vpcId') === undefined ? showValue(value) : 'a VPC by itself';
}

/** Undefined for functions that are in no network of the account. */
export function createJobNetwork(
  scope: Construct,
  props: VpcProps | undefined,
  { jobName }: { readonly jobName: string },
): JobNetwork | undefined {
  if (props === undefined) return undefined;
  const { vpc, subnets, securityGroups } = props;
  return {
    vpc,
    ...(subnets === undefined ? {} : { vpcSubnets: subnets }),
    securityGroups: [...(securityGroups ?? [createSecurityGroup(scope, vpc, jobName)])],
  };
}

// One for the job: CDK would make one for each function. Names are resolved all the same, since security groups are not asked
// about the VPC's own resolver.
function createSecurityGroup(scope: Construct, vpc: IVpc, jobName: string): SecurityGroup {
  const group = new SecurityGroup(scope, 'Network', {
    vpc,
    description: `Functions of job ${jobName}: they call AWS, and nobody calls them`,
    allowAllOutbound: false,
  });
  group.addEgressRule(Peer.anyIpv4(), Port.HTTPS, 'the services that the functions call');
  return group;
}

/**
 * Lets Lambda attach a function to a network: it does so with the rights of the function's role. The code of the function has
 * them, too, so they are taken from it again: Lambda says for each call of a function's code which function it comes from, and for
 * its own calls it says nothing.
 * Source: https://docs.aws.amazon.com/lambda/latest/dg/permissions-source-function-arn.html
 */
export function letAttach(role: Role): void {
  const interfaces = Stack.of(role).formatArn({
    service: 'ec2',
    resource: '*',
    resourceName: '*',
  });
  allow(role, VPC_PERMISSIONS, { 'network-interfaces': [interfaces], network: ['*'] });
  role.addToPolicy(
    new PolicyStatement({
      effect: Effect.DENY,
      actions: VPC_PERMISSIONS.flatMap(({ actions }) => [...actions]),
      resources: ['*'],
      conditions: { Null: { 'lambda:SourceFunctionArn': 'false' } },
    }),
  );
}
