import type { AddressInfo } from 'node:net';

import { createRequestHandlers } from './dynamodb-requests.ts';
import { createDynamoDbServer } from './dynamodb-server.ts';
import { openDynamoDbStore } from './dynamodb-store.ts';
import type { Emulator } from './emulator.ts';
import type { FaultOptions, Faulty } from './faults.ts';
import { createTableSettings } from './table-settings.ts';
import { createUsageMeter, type TableUsage } from './usage.ts';

export interface DynamoDbOptions extends FaultOptions {
  /** Times the ten minutes for which a client request token is remembered. @default Date.now */
  readonly nowMs?: () => number;
}

export interface DynamoDbEmulator extends Emulator, Faulty {
  /** Table name → requests and units since the start or the last reset. */
  stats(): Readonly<Record<string, TableUsage>>;
  resetStats(): void;
  /** Deletes the items whose time to live is at or before `nowMs`. Returns how many. */
  expire(nowMs: number): Promise<number>;
}

/**
 * Starts DynamoDB in this process: dynalite's store and rules behind a server of ours that adds
 * transactions, PartiQL on single items, the losing item of a failed condition, and AWS's own billing
 * units. Tables are in memory and usable as soon as they are created. Not there: streams, PartiQL queries,
 * TransactGetItems, export and import; such requests fail, they are never ignored.
 */
export async function startDynamoDb(options: DynamoDbOptions = {}): Promise<DynamoDbEmulator> {
  const store = await openDynamoDbStore();
  const usage = createUsageMeter();
  const settings = createTableSettings(store);
  const handlers = createRequestHandlers(store, usage, settings, options.nowMs ?? Date.now);
  let hook = options.onRequest;
  const server = createDynamoDbServer({ handlers, usage, hook: () => hook });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  let stopping: Promise<void> | undefined;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    stop: () => {
      stopping ??= new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }).then(() => store.exclusively(() => store.close()));
      return stopping;
    },
    setFaultHook: (replacement) => {
      hook = replacement;
    },
    stats: () => usage.report(),
    resetStats: () => usage.reset(),
    expire: (nowMs) => settings.expire(nowMs),
  };
}
