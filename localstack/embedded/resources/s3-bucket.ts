import { CreateBucketCommand } from '@aws-sdk/client-s3';

import { physicalName } from '../template/physical-name.ts';
import { inert, used } from '../template/property-table.ts';
import type { ResourceKind } from './resource-kind.ts';

export const s3Bucket: ResourceKind = {
  properties: {
    BucketName: used,
    AccessControl: inert('access is not checked here'),
    BucketEncryption: inert('nothing here is stored longer than the process lives'),
    IntelligentTieringConfigurations: inert('it only changes prices'),
    LifecycleConfiguration: inert('rules act after days'),
    LoggingConfiguration: inert('no access logs are kept'),
    MetricsConfigurations: inert('no metrics are kept'),
    OwnershipControls: inert('there is one account'),
    PublicAccessBlockConfiguration: inert('the endpoint listens on this machine only'),
    Tags: inert('nothing reads them'),
    VersioningConfiguration: inert('only current versions are read'),
  },
  async create({ logicalId, properties }, { place, s3 }) {
    const name = properties.textOr(
      'BucketName',
      physicalName(place, logicalId, { lengthMax: 63, isLowerCase: true }),
    );
    await s3.send(new CreateBucketCommand({ Bucket: name }));
    return {
      physicalId: name,
      attributes: {
        Arn: `arn:aws:s3:::${name}`,
        DomainName: `${name}.s3.amazonaws.com`,
        RegionalDomainName: `${name}.s3.${place.region}.amazonaws.com`,
      },
    };
  },
};
