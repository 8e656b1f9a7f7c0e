import { SecurityGroup, SubnetType, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Duration, type Stack } from 'aws-cdk-lib/core';
import { describe, expect, it } from 'vitest';
import type { StreamJobProps } from '../../infra/stream-job-props.ts';
import { ConfigurationError } from '../../shared/config/configuration-error.ts';
import {
  createJob,
  listResources,
  listResourcesOfType,
  operatorProps,
  type Resource,
} from './synthesize-job.ts';

const importVpc = (of: Stack) =>
  Vpc.fromVpcAttributes(of, 'Vpc', {
    vpcId: 'vpc-0a1b2c3d',
    availabilityZones: ['eu-central-1a', 'eu-central-1b'],
    privateSubnetIds: ['subnet-a0000000', 'subnet-b0000000'],
    isolatedSubnetIds: ['subnet-c0000000', 'subnet-d0000000'],
    publicSubnetIds: ['subnet-e0000000', 'subnet-f0000000'],
  });

/** A job with every function that there is. */
function synthesize(vpc: (of: Stack) => StreamJobProps['vpc']): Readonly<Record<string, Resource>> {
  const { stack } = createJob((of) => {
    const given = vpc(of);
    return {
      operators: [operatorProps(), operatorProps({ id: 'routes' })],
      heartbeat: { every: Duration.minutes(1), behind: Duration.minutes(2) },
      ...(given === undefined ? {} : { vpc: given }),
    };
  });
  return listResources(stack);
}

const networksOf = (resources: Readonly<Record<string, Resource>>) =>
  listResourcesOfType(resources, 'AWS::Lambda::Function').map(
    ({ Properties }) => Properties['VpcConfig'],
  );

const resources = synthesize((of) => ({ vpc: importVpc(of) }));
const groups = listResourcesOfType(resources, 'AWS::EC2::SecurityGroup');

describe('a job in a VPC', () => {
  it('has each of its functions in the private subnets, under one security group', () => {
    expect(networksOf(resources)).toHaveLength(6);
    expect(groups).toHaveLength(1);
    for (const network of networksOf(resources)) {
      expect(network).toEqual({
        SubnetIds: ['subnet-a0000000', 'subnet-b0000000'],
        SecurityGroupIds: [{ 'Fn::GetAtt': [groups[0]!.logicalId, 'GroupId'] }],
      });
    }
  });

  it('lets HTTPS out of it, and nothing else anywhere', () => {
    expect(groups[0]?.Properties).toEqual({
      GroupDescription: 'Functions of job flights: they call AWS, and nobody calls them',
      SecurityGroupEgress: [
        {
          CidrIp: '0.0.0.0/0',
          Description: 'the services that the functions call',
          FromPort: 443,
          IpProtocol: 'tcp',
          ToPort: 443,
        },
      ],
      VpcId: 'vpc-0a1b2c3d',
    });
    expect(listResourcesOfType(resources, 'AWS::EC2::SecurityGroupIngress')).toEqual([]);
  });

  it('takes the subnets and security groups that it is given, and creates none then', () => {
    const given = synthesize((of) => ({
      vpc: importVpc(of),
      subnets: { subnetType: SubnetType.PRIVATE_ISOLATED },
      securityGroups: [SecurityGroup.fromSecurityGroupId(of, 'Theirs', 'sg-0a1b2c3d')],
    }));
    expect(listResourcesOfType(given, 'AWS::EC2::SecurityGroup')).toEqual([]);
    for (const network of networksOf(given)) {
      expect(network).toEqual({
        SubnetIds: ['subnet-c0000000', 'subnet-d0000000'],
        SecurityGroupIds: ['sg-0a1b2c3d'],
      });
    }
  });

  it('lets Lambda attach functions, and no code of theirs', () => {
    const policies = listResourcesOfType(resources, 'AWS::IAM::Policy').filter(({ Properties }) =>
      JSON.stringify(Properties).includes('ec2:'),
    );
    expect(policies).toHaveLength(6);
    const anyInterface = {
      'Fn::Join': [
        '',
        [
          ...['arn:', { Ref: 'AWS::Partition' }, ':ec2:', { Ref: 'AWS::Region' }, ':'],
          ...[{ Ref: 'AWS::AccountId' }, ':*/*'],
        ],
      ],
    };
    for (const { Properties } of policies) {
      const { Statement } = Properties['PolicyDocument'] as {
        Statement: { readonly Action: string | readonly string[] }[];
      };
      const about = Statement.filter(({ Action }) => String(Action).includes('ec2:'));
      const describing = ['ec2:DescribeNetworkInterfaces', 'ec2:DescribeSubnets'];
      const changing = ['Assign', 'Create', 'Delete', 'Unassign'].map((verb) =>
        /assign/i.test(verb) ? `ec2:${verb}PrivateIpAddresses` : `ec2:${verb}NetworkInterface`,
      );
      expect(about).toEqual([
        { Effect: 'Allow', Action: describing, Resource: '*' },
        { Effect: 'Allow', Action: changing, Resource: anyInterface },
        {
          Effect: 'Deny',
          Action: expect.arrayContaining([...describing, ...changing]) as string[],
          Resource: '*',
          Condition: { Null: { 'lambda:SourceFunctionArn': 'false' } },
        },
      ]);
      expect(about[2]!.Action).toHaveLength(describing.length + changing.length);
    }
  });

  it('keeps the logical ids of all else: a job can go into one later', () => {
    const without = Object.keys(synthesize(() => undefined));
    expect(Object.keys(resources).filter((id) => !without.includes(id))).toEqual([
      groups[0]!.logicalId,
    ]);
    expect(without.filter((id) => !(id in resources))).toEqual([]);
  });

  it('is refused in public subnets, where functions reach nothing', () => {
    expect(() =>
      synthesize((of) => ({ vpc: importVpc(of), subnets: { subnetType: SubnetType.PUBLIC } })),
    ).toThrow('Lambda Functions in a public subnet can NOT access the internet');
  });
});

describe('a job without a VPC', () => {
  it('has no function in one, and no right to anything of EC2', () => {
    const without = synthesize(() => undefined);
    expect(networksOf(without)).toEqual(Array<undefined>(6).fill(undefined));
    expect(JSON.stringify(without)).not.toContain('ec2:');
  });
});

describe('a VPC that is none', () => {
  const refuse = (vpc: (of: Stack) => unknown): string => {
    try {
      synthesize((of) => vpc(of) as StreamJobProps['vpc']);
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigurationError);
      return (error as Error).message;
    }
    return 'nothing';
  };

  it.each([
    ['by itself', (of: Stack) => importVpc(of), 'got a VPC by itself'],
    ['as text', () => 'vpc-0a1b2c3d', 'got "vpc-0a1b2c3d"'],
    ['of nothing', () => ({ vpc: {} }), 'got {"vpc":{}}'],
    [
      'without a security group',
      (of: Stack) => ({ vpc: importVpc(of), securityGroups: [] }),
      'got securityGroups []',
    ],
  ])('is refused with what to give instead: %s', (_, vpc, got) => {
    const message = refuse(vpc);
    expect(message).toContain(`vpc: ${got}, expected an object with \`vpc\``);
    expect(message).toContain('vpc: { vpc: Vpc.fromLookup(this, "Vpc", { vpcId }) }');
  });
});
