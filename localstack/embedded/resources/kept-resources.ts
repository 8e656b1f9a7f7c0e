import type { ResourceReference } from '../template/intrinsics.ts';
import type { StackPlace } from '../template/parameters.ts';
import { physicalName, uuidOf } from '../template/physical-name.ts';
import type { PropertyReader } from '../template/property-reader.ts';
import { inert, nested, used, type PropertyRule } from '../template/property-table.ts';
import type { ResourceKind } from './resource-kind.ts';

// Resources that exist here only so that others can refer to them.

const notEnforced = inert('permissions are kept with the resource, not enforced');
const noReader = inert('nothing reads it');
const policyDocument: PropertyRule = notEnforced;

function kept(
  properties: ResourceKind['properties'],
  describe: (logicalId: string, reader: PropertyReader, place: StackPlace) => ResourceReference,
): ResourceKind {
  return {
    properties,
    create: ({ logicalId, properties: reader }, { place }) =>
      Promise.resolve(describe(logicalId, reader, place)),
  };
}

const role = kept(
  {
    RoleName: used,
    Path: used,
    AssumeRolePolicyDocument: policyDocument,
    ManagedPolicyArns: notEnforced,
    Policies: nested({ PolicyName: used, PolicyDocument: policyDocument }),
    PermissionsBoundary: notEnforced,
    MaxSessionDuration: notEnforced,
    Description: noReader,
    Tags: noReader,
  },
  (logicalId, reader, place) => {
    const name = reader.textOr('RoleName', physicalName(place, logicalId, { lengthMax: 64 }));
    const arn = `arn:aws:iam::${place.accountId}:role${reader.textOr('Path', '/')}${name}`;
    return { physicalId: name, attributes: { Arn: arn } };
  },
);

const policyTargets = {
  PolicyName: used,
  PolicyDocument: policyDocument,
  Roles: notEnforced,
  Users: notEnforced,
  Groups: notEnforced,
};

const policy = kept(policyTargets, (logicalId, _reader, place) => {
  const name = physicalName(place, logicalId, { lengthMax: 128 });
  return { physicalId: name, attributes: { Id: name } };
});

const managedPolicy = kept(
  {
    ManagedPolicyName: used,
    Path: used,
    PolicyDocument: policyDocument,
    Roles: notEnforced,
    Users: notEnforced,
    Groups: notEnforced,
    Description: noReader,
  },
  (logicalId, reader, place) => {
    const fallback = physicalName(place, logicalId, { lengthMax: 128 });
    const name = reader.textOr('ManagedPolicyName', fallback);
    const arn = `arn:aws:iam::${place.accountId}:policy${reader.textOr('Path', '/')}${name}`;
    return { physicalId: arn, attributes: { PolicyArn: arn } };
  },
);

const bucketPolicy = kept({ Bucket: used, PolicyDocument: policyDocument }, (logicalId, reader) => {
  // Only to refuse a policy without a bucket, as AWS does.
  reader.text('Bucket');
  return { physicalId: logicalId, attributes: {} };
});

const logGroup = kept(
  {
    LogGroupName: used,
    RetentionInDays: inert('lines go to the log of the local AWS and are not stored'),
    KmsKeyId: inert('lines are not stored'),
    LogGroupClass: inert('it only changes prices'),
    DataProtectionPolicy: inert('lines are not stored'),
    DeletionProtectionEnabled: inert('lines are not stored'),
    FieldIndexPolicies: inert('lines are not stored'),
    Tags: noReader,
  },
  (logicalId, reader, place) => {
    const name = reader.textOr('LogGroupName', physicalName(place, logicalId, { lengthMax: 512 }));
    // With the `:*` that CloudFormation gives.
    const arn = `arn:aws:logs:${place.region}:${place.accountId}:log-group:${name}:*`;
    return { physicalId: name, attributes: { Arn: arn } };
  },
);

const notEncrypted = inert('nothing here is stored longer than the process lives');

const key = kept(
  {
    Description: noReader,
    Enabled: notEncrypted,
    EnableKeyRotation: notEncrypted,
    RotationPeriodInDays: notEncrypted,
    KeyPolicy: policyDocument,
    KeySpec: notEncrypted,
    KeyUsage: notEncrypted,
    MultiRegion: notEncrypted,
    PendingWindowInDays: notEncrypted,
    Tags: noReader,
  },
  (logicalId, _reader, place) => {
    const id = uuidOf(`${place.stackName}/${logicalId}`);
    const arn = `arn:aws:kms:${place.region}:${place.accountId}:key/${id}`;
    return { physicalId: id, attributes: { Arn: arn, KeyId: id } };
  },
);

const notFiltered = inert('nothing between processes of this machine is filtered');

const securityGroup = kept(
  {
    GroupName: noReader,
    GroupDescription: noReader,
    SecurityGroupEgress: notFiltered,
    SecurityGroupIngress: notFiltered,
    VpcId: notFiltered,
    Tags: noReader,
  },
  (logicalId, _reader, place) => {
    const id = `sg-${uuidOf(`${place.stackName}/${logicalId}`).replaceAll('-', '').slice(0, 17)}`;
    return { physicalId: id, attributes: { GroupId: id, Id: id } };
  },
);

const scheduleGroup = kept({ Name: used, Tags: noReader }, (logicalId, reader, place) => {
  const name = reader.textOr('Name', physicalName(place, logicalId, { lengthMax: 64 }));
  const arn = `arn:aws:scheduler:${place.region}:${place.accountId}:schedule-group/${name}`;
  return { physicalId: name, attributes: { Arn: arn } };
});

const cdkMetadata = kept({ Analytics: inert('usage statistics of the CDK') }, (logicalId) => ({
  physicalId: logicalId,
  attributes: {},
}));

export const keptResources: Readonly<Record<string, ResourceKind>> = {
  'AWS::EC2::SecurityGroup': securityGroup,
  'AWS::IAM::Role': role,
  'AWS::IAM::Policy': policy,
  'AWS::IAM::ManagedPolicy': managedPolicy,
  'AWS::S3::BucketPolicy': bucketPolicy,
  'AWS::KMS::Key': key,
  'AWS::Logs::LogGroup': logGroup,
  'AWS::Scheduler::ScheduleGroup': scheduleGroup,
  'AWS::CDK::Metadata': cdkMetadata,
};
