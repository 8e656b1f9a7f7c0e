import {
  CreateStreamCommand,
  DescribeStreamSummaryCommand,
  IncreaseStreamRetentionPeriodCommand,
} from '@aws-sdk/client-kinesis';

import { physicalName } from '../template/physical-name.ts';
import { inert, nested, used } from '../template/property-table.ts';
import type { ResourceKind } from './resource-kind.ts';
import { waitUntilActive } from './wait-until-active.ts';

const DEFAULT_RETENTION_HOURS = 24;

export const kinesisStream: ResourceKind = {
  properties: {
    Name: used,
    ShardCount: used,
    StreamModeDetails: nested({ StreamMode: used }),
    RetentionPeriodHours: used,
    StreamEncryption: inert('nothing here is stored longer than the process lives'),
    DesiredShardLevelMetrics: inert('no metrics are kept'),
    MaxRecordSizeInKiB: inert('the local Kinesis keeps its own limit of 1 MiB'),
    Tags: inert('nothing reads them'),
  },
  async create({ logicalId, properties }, { place, kinesis }) {
    const name = properties.textOr('Name', physicalName(place, logicalId, { lengthMax: 128 }));
    const mode =
      properties
        .object('StreamModeDetails')
        ?.choice('StreamMode', ['PROVISIONED', 'ON_DEMAND'], 'PROVISIONED') ?? 'PROVISIONED';
    await kinesis.send(
      new CreateStreamCommand({
        StreamName: name,
        StreamModeDetails: { StreamMode: mode },
        ...(mode === 'PROVISIONED' && {
          ShardCount: properties.integer('ShardCount', { min: 1, max: 500 }),
        }),
      }),
    );
    let arn = '';
    await waitUntilActive(`stream ${name}`, async () => {
      const reply = await kinesis.send(new DescribeStreamSummaryCommand({ StreamName: name }));
      arn = reply.StreamDescriptionSummary?.StreamARN ?? '';
      return reply.StreamDescriptionSummary?.StreamStatus;
    });
    const hours = properties.integerOr(
      'RetentionPeriodHours',
      { min: DEFAULT_RETENTION_HOURS, max: 8_760 },
      DEFAULT_RETENTION_HOURS,
    );
    if (hours > DEFAULT_RETENTION_HOURS) {
      await kinesis.send(
        new IncreaseStreamRetentionPeriodCommand({ StreamName: name, RetentionPeriodHours: hours }),
      );
    }
    return { physicalId: name, attributes: { Arn: arn } };
  },
};
