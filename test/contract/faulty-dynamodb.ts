import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import {
  startDynamoDb,
  type DynamoDbEmulator,
} from '../../localstack/embedded/emulators/dynamodb.ts';
import type { EmulatorRequest, Fault } from '../../localstack/embedded/emulators/faults.ts';
import { isHoldfastError, type ErrorKind } from '../../shared/core/errors.ts';
import { connect, createTable } from './dynamodb-tables.ts';

export interface FaultyDynamodb {
  readonly endpoint: string;
  readonly client: DynamoDBClient;
  /** A new one for each test. */
  readonly table: string;
  /** The requests of the operation that misbehaves, as they came. */
  readonly seen: readonly EmulatorRequest[];
  /** Plans a fault for each of the next requests of an operation, and notes them all. */
  misbehave(operation: string, ...faults: (Fault | undefined)[]): void;
  /** Plans the same fault for all requests of an operation. */
  always(operation: string, fault: Fault): void;
  /** Ends all faults. */
  behave(): void;
}

/** An emulator for the tests of a file, with a table of its own for each test. */
export function useFaultyDynamodb(): FaultyDynamodb {
  let emulator: DynamoDbEmulator;
  let client: DynamoDBClient;
  let table: string;
  let seen: EmulatorRequest[] = [];

  const plan = (operation: string, next: () => Fault | undefined): void => {
    seen = [];
    emulator.setFaultHook((request) => {
      if (request.operation !== operation) return undefined;
      // A copy: the emulator takes parts away as it validates them.
      seen.push({ ...request, body: structuredClone(request.body) });
      return next();
    });
  };

  beforeAll(async () => {
    emulator = await startDynamoDb();
    client = connect(emulator.endpoint);
  });

  afterAll(async () => {
    client.destroy();
    await emulator.stop();
  });

  beforeEach(async () => {
    table = await createTable(client);
  });

  const behave = (): void => {
    emulator.setFaultHook(undefined);
  };

  afterEach(behave);

  return {
    get endpoint() {
      return emulator.endpoint;
    },
    get client() {
      return client;
    },
    get table() {
      return table;
    },
    get seen() {
      return seen;
    },
    misbehave(operation, ...faults) {
      const left = [...faults];
      plan(operation, () => left.shift());
    },
    always(operation, fault) {
      plan(operation, () => fault);
    },
    behave,
  };
}

/** The kind of what a promise rejects with; `none` where it does not, or with no error of ours. */
export async function kindOf(promise: Promise<unknown>): Promise<ErrorKind | 'none'> {
  const thrown: unknown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  return isHoldfastError(thrown) ? thrown.kind : 'none';
}
