import {
  CreateTableCommand,
  DescribeTableCommand,
  type AttributeDefinition,
  type GlobalSecondaryIndex,
  type KeySchemaElement,
  type LocalSecondaryIndex,
  type Projection,
  type ProvisionedThroughput,
} from '@aws-sdk/client-dynamodb';

import { physicalName } from '../template/physical-name.ts';
import type { PropertyReader } from '../template/property-reader.ts';
import { inert, nested, used, type PropertyTable } from '../template/property-table.ts';
import type { ResourceKind } from './resource-kind.ts';
import { waitUntilActive } from './wait-until-active.ts';

const keySchema = nested({ AttributeName: used, KeyType: used });
const projection = nested({ ProjectionType: used, NonKeyAttributes: used });
const throughput = nested({ ReadCapacityUnits: used, WriteCapacityUnits: used });
const noCapacity = inert('capacity is not limited here');
const noMetrics = inert('no metrics are kept');

const indexProperties: PropertyTable = {
  IndexName: used,
  KeySchema: keySchema,
  Projection: projection,
};

export const dynamodbTable: ResourceKind = {
  properties: {
    TableName: used,
    KeySchema: keySchema,
    AttributeDefinitions: nested({ AttributeName: used, AttributeType: used }),
    BillingMode: used,
    ProvisionedThroughput: throughput,
    GlobalSecondaryIndexes: nested({
      ...indexProperties,
      ProvisionedThroughput: throughput,
      OnDemandThroughput: noCapacity,
      WarmThroughput: noCapacity,
      ContributorInsightsSpecification: noMetrics,
    }),
    LocalSecondaryIndexes: nested(indexProperties),
    TimeToLiveSpecification: inert('AWS may delete expired items days late: readers must filter'),
    PointInTimeRecoverySpecification: inert('there is no older time to go back to'),
    SSESpecification: inert('nothing here is stored longer than the process lives'),
    DeletionProtectionEnabled: inert('the table ends with the process, whatever this says'),
    ContributorInsightsSpecification: noMetrics,
    OnDemandThroughput: noCapacity,
    WarmThroughput: noCapacity,
    TableClass: inert('it only changes prices'),
    ResourcePolicy: inert('access is not checked here'),
    Tags: inert('nothing reads them'),
  },
  async create({ logicalId, properties }, { place, dynamodb }) {
    const name = properties.textOr('TableName', physicalName(place, logicalId, { lengthMax: 255 }));
    const billingMode = properties.choice(
      'BillingMode',
      ['PROVISIONED', 'PAY_PER_REQUEST'],
      'PROVISIONED',
    );
    const globalIndexes = properties.objects('GlobalSecondaryIndexes');
    const localIndexes = properties.objects('LocalSecondaryIndexes');
    await dynamodb.send(
      new CreateTableCommand({
        TableName: name,
        BillingMode: billingMode,
        KeySchema: readKeySchema(properties),
        AttributeDefinitions: properties.objects('AttributeDefinitions').map(readAttribute),
        ...readThroughput(properties),
        ...(globalIndexes.length > 0 && {
          GlobalSecondaryIndexes: globalIndexes.map((index): GlobalSecondaryIndex => ({
            ...readIndex(index),
            ...readThroughput(index),
          })),
        }),
        ...(localIndexes.length > 0 && { LocalSecondaryIndexes: localIndexes.map(readIndex) }),
      }),
    );
    await waitUntilActive(`table ${name}`, async () => {
      const reply = await dynamodb.send(new DescribeTableCommand({ TableName: name }));
      return reply.Table?.TableStatus;
    });
    const arn = `arn:aws:dynamodb:${place.region}:${place.accountId}:table/${name}`;
    return { physicalId: name, attributes: { Arn: arn } };
  },
};

function readKeySchema(properties: PropertyReader): KeySchemaElement[] {
  return properties.objects('KeySchema').map((key) => ({
    AttributeName: key.text('AttributeName'),
    KeyType: key.choice('KeyType', ['HASH', 'RANGE'], 'HASH'),
  }));
}

function readAttribute(attribute: PropertyReader): AttributeDefinition {
  return {
    AttributeName: attribute.text('AttributeName'),
    AttributeType: attribute.choice('AttributeType', ['S', 'N', 'B'], 'S'),
  };
}

function readIndex(index: PropertyReader): LocalSecondaryIndex {
  return {
    IndexName: index.text('IndexName'),
    KeySchema: readKeySchema(index),
    Projection: readProjection(index.object('Projection')),
  };
}

function readProjection(reader: PropertyReader | undefined): Projection {
  const names = reader?.texts('NonKeyAttributes') ?? [];
  return {
    ProjectionType:
      reader?.choice('ProjectionType', ['ALL', 'KEYS_ONLY', 'INCLUDE'], 'ALL') ?? 'ALL',
    ...(names.length > 0 && { NonKeyAttributes: names }),
  };
}

function readThroughput(reader: PropertyReader): { ProvisionedThroughput?: ProvisionedThroughput } {
  const units = reader.object('ProvisionedThroughput');
  if (units === undefined) return {};
  const bounds = { min: 1, max: 40_000 };
  return {
    ProvisionedThroughput: {
      ReadCapacityUnits: units.integer('ReadCapacityUnits', bounds),
      WriteCapacityUnits: units.integer('WriteCapacityUnits', bounds),
    },
  };
}
