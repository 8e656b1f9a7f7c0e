import { runAction, type Table } from './dynalite-internals.ts';
import { DynamoDbRefusal, validationError } from './dynamodb-errors.ts';
import type { DynamoDbStore } from './dynamodb-store.ts';

interface TimeToLive {
  readonly AttributeName: string;
  readonly Enabled: boolean;
}

interface Recovery {
  readonly PointInTimeRecoveryEnabled: boolean;
  readonly RecoveryPeriodInDays?: number;
}

interface SettingsBody {
  readonly TableName?: string;
  readonly TimeToLiveSpecification?: TimeToLive;
  readonly PointInTimeRecoverySpecification?: Recovery;
}

/** Settings that dynalite does not have. They are recorded; only `expire` acts on one. */
export interface TableSettings {
  updateTimeToLive(body: SettingsBody): object;
  describeTimeToLive(body: SettingsBody): object;
  updateContinuousBackups(body: SettingsBody): object;
  describeContinuousBackups(body: SettingsBody): object;
  forget(table: string): void;
  /** Deletes what has expired by `nowMs`. Returns how many items. */
  expire(nowMs: number): Promise<number>;
}

const secondsOf5Years = 5 * 365 * 24 * 3600;

export function createTableSettings(store: DynamoDbStore): TableSettings {
  const ttlAttributes = new Map<string, string>();
  const recoveries = new Map<string, Recovery>();

  const tableOf = (body: SettingsBody): Table => {
    const table = store.findTable(body.TableName ?? '');
    if (table !== undefined) return table;
    throw new DynamoDbRefusal(
      'ResourceNotFoundException',
      `Requested resource not found: Table: ${body.TableName} not found`,
    );
  };

  const describeRecovery = (table: string): object => {
    const recovery = recoveries.get(table);
    const isEnabled = recovery?.PointInTimeRecoveryEnabled ?? false;
    return {
      ContinuousBackupsDescription: {
        ContinuousBackupsStatus: 'ENABLED',
        PointInTimeRecoveryDescription: {
          PointInTimeRecoveryStatus: isEnabled ? 'ENABLED' : 'DISABLED',
          ...(isEnabled ? { RecoveryPeriodInDays: recovery?.RecoveryPeriodInDays ?? 35 } : {}),
        },
      },
    };
  };

  return {
    updateTimeToLive: (body) => {
      const table = tableOf(body).TableName;
      const wanted = body.TimeToLiveSpecification;
      if (wanted?.AttributeName === undefined || typeof wanted.Enabled !== 'boolean') {
        throw validationError('TimeToLiveSpecification needs AttributeName and Enabled');
      }
      const current = ttlAttributes.get(table);
      if (wanted.Enabled && current !== undefined) {
        throw validationError('TimeToLive is already enabled');
      }
      if (!wanted.Enabled && current === undefined) {
        throw validationError('TimeToLive is already disabled');
      }
      if (!wanted.Enabled && current !== wanted.AttributeName) {
        throw validationError(
          `TimeToLive is active on a different AttributeName: current AttributeName is ${current}`,
        );
      }
      if (wanted.Enabled) ttlAttributes.set(table, wanted.AttributeName);
      else ttlAttributes.delete(table);
      return { TimeToLiveSpecification: wanted };
    },

    describeTimeToLive: (body) => {
      const AttributeName = ttlAttributes.get(tableOf(body).TableName);
      return {
        TimeToLiveDescription:
          AttributeName === undefined
            ? { TimeToLiveStatus: 'DISABLED' }
            : { TimeToLiveStatus: 'ENABLED', AttributeName },
      };
    },

    updateContinuousBackups: (body) => {
      const table = tableOf(body).TableName;
      const wanted = body.PointInTimeRecoverySpecification;
      if (typeof wanted?.PointInTimeRecoveryEnabled !== 'boolean') {
        throw validationError('PointInTimeRecoverySpecification needs PointInTimeRecoveryEnabled');
      }
      recoveries.set(table, wanted);
      return describeRecovery(table);
    },

    describeContinuousBackups: (body) => describeRecovery(tableOf(body).TableName),

    forget: (table) => {
      ttlAttributes.delete(table);
      recoveries.delete(table);
    },

    expire: (nowMs) =>
      store.exclusively(async () => {
        let expired = 0;
        for (const [name, attribute] of ttlAttributes) {
          expired += await expireTable(store, name, attribute, Math.floor(nowMs / 1000));
        }
        return expired;
      }),
  };
}

async function expireTable(
  store: DynamoDbStore,
  name: string,
  attribute: string,
  nowSeconds: number,
): Promise<number> {
  const table = store.findTable(name);
  if (table === undefined) return 0;
  const unit = store.openUnit();
  let expired = 0;
  for await (const item of store.items(name)) {
    const { N } = (item[attribute] ?? {}) as { N?: string };
    // Only numbers count, and none that lies more than five years back.
    const seconds = N === undefined ? Number.NaN : Number(N);
    if (!(seconds <= nowSeconds && seconds >= nowSeconds - secondsOf5Years)) continue;
    const entries = table.KeySchema.map(({ AttributeName }) => [
      AttributeName,
      item[AttributeName],
    ]);
    const Key: unknown = Object.fromEntries(entries);
    await runAction('DeleteItem', unit.store, { TableName: name, Key });
    expired += 1;
  }
  await store.commit([unit]);
  return expired;
}
