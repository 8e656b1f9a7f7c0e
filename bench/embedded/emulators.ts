import path from 'node:path';
import type { Scratch } from '../harness/scratch.ts';
import { readFirstLine } from './first-line.ts';

/** Where the emulators of `emulator-process.ts` listen. */
export interface EmulatorPlaces {
  readonly dynamodb: string;
  readonly s3: string;
  /** Tells what was asked of both. */
  readonly usage: string;
}

/** What was asked of the emulators since the last reset; units as AWS bills them. */
export interface EmulatorUsage {
  /** By table. */
  readonly dynamodb: Readonly<Record<string, TableUsage>>;
  /** Requests by operation. */
  readonly s3: Readonly<Record<string, number>>;
}

interface TableUsage {
  /** By operation. */
  readonly requests: Readonly<Record<string, number>>;
  readonly writeUnits: number;
  readonly readUnits: number;
}

const processModule = path.join(import.meta.dirname, 'emulator-process.ts');

/** Starts both in one process, which ends with the scratch. */
export async function startEmulators(scratch: Scratch): Promise<EmulatorPlaces> {
  const child = scratch.start(process.execPath, [processModule]);
  return JSON.parse(await readFirstLine(child, 'the emulators')) as EmulatorPlaces;
}

/** Lets the SDK's clients of this process find them. */
export function useEmulators({ dynamodb, s3 }: EmulatorPlaces): void {
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: dynamodb,
    AWS_ENDPOINT_URL_S3: s3,
  });
}

/** Gives what was asked since the last call, and begins to count anew. */
export async function takeUsage({ usage }: EmulatorPlaces): Promise<EmulatorUsage> {
  const response = await fetch(usage, { method: 'DELETE' });
  return (await response.json()) as EmulatorUsage;
}

/** Sums of one table or more. */
export interface UsageSums {
  readonly requests: number;
  readonly writeUnits: number;
  readonly readUnits: number;
}

export function sumTables(
  { dynamodb }: EmulatorUsage,
  isMeant: (table: string) => boolean = () => true,
): UsageSums {
  const sums = { requests: 0, writeUnits: 0, readUnits: 0 };
  for (const [table, { requests, writeUnits, readUnits }] of Object.entries(dynamodb)) {
    if (!isMeant(table)) continue;
    sums.requests += sumOf(requests);
    sums.writeUnits += writeUnits;
    sums.readUnits += readUnits;
  }
  return sums;
}

/** Requests to DynamoDB and S3. */
export function sumRequests(usage: EmulatorUsage): number {
  return sumTables(usage).requests + sumOf(usage.s3);
}

export function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
