import { ConfigurationError, showValue, type ConfigurationProblem } from './configuration-error.ts';
import {
  DEFAULTS,
  describeLimit,
  isMaxParallelism,
  isName,
  isWithin,
  LIMITS,
  MAX_PARALLELISM_RULE,
  NAME_RULE,
} from './limits.ts';

// The error that the readers below throw; callers find it beside them.
export { ConfigurationError } from './configuration-error.ts';

/** What becomes of a call of an operator that a replay would find different: it throws, or is counted. */
export type DeterminismSetting = 'count' | 'strict';

export const DETERMINISM_VARIABLE = 'HOLDFAST_DETERMINISM';

/** What an operator function is told by its deployment. Written and read here only. */
export interface OperatorEnvironment {
  readonly job: string;
  readonly operator: string;
  readonly streamArn: string;
  readonly stateTable: string;
  readonly controlTable: string;
  readonly deadLetterTable: string;
  readonly bucket: string;
  readonly maxParallelism: number;
  /** Sink name → table name, for the sinks of this operator only. */
  readonly sinks: ReadonlyMap<string, string>;
  /** How long the source stream keeps a record. Tombstones and catch-up reads rest on it. */
  readonly retentionHours: number;
  /** Overrides what the code says. Not written by StreamJob: set it by hand, as the local AWS does. */
  readonly determinism?: DeterminismSetting;
}

/** What the job registrar is told by its deployment. */
export interface RegistrarEnvironment {
  readonly controlTable: string;
  readonly bucket: string;
}

/** What the function that puts heartbeats is told by its deployment. */
export interface HeartbeatEnvironment {
  readonly job: string;
  readonly streamArn: string;
  /** How far before now event time is said to be. */
  readonly behindSeconds: number;
}

export type Variables = Readonly<Record<string, string | undefined>>;

const REDEPLOY =
  'these variables are written by the StreamJob construct: deploy again and do not edit them by hand';

/** @throws ConfigurationError naming every variable that is missing or wrong. */
export function readEnvironment(env: Variables): OperatorEnvironment {
  const reader = readVariables(env);
  const hasDeterminism = env[DETERMINISM_VARIABLE] !== undefined;
  const environment: OperatorEnvironment = {
    job: reader.take('HOLDFAST_JOB', readName, NAME_RULE),
    operator: reader.take('HOLDFAST_OPERATOR', readName, NAME_RULE),
    streamArn: reader.take('HOLDFAST_STREAM_ARN', readStreamArn, 'the ARN of a Kinesis stream'),
    stateTable: reader.take('HOLDFAST_STATE_TABLE', readTableName, TABLE_RULE),
    controlTable: reader.take('HOLDFAST_CONTROL_TABLE', readTableName, TABLE_RULE),
    deadLetterTable: reader.take('HOLDFAST_DEAD_LETTER_TABLE', readTableName, TABLE_RULE),
    bucket: reader.take('HOLDFAST_BUCKET', readBucketName, BUCKET_RULE),
    maxParallelism: reader.take(
      'HOLDFAST_MAX_PARALLELISM',
      readMaxParallelism,
      MAX_PARALLELISM_RULE,
    ),
    sinks: reader.take('HOLDFAST_SINKS', readSinks, SINKS_RULE),
    retentionHours:
      env['HOLDFAST_RETENTION_HOURS'] === undefined
        ? DEFAULTS.retentionHours
        : reader.take(
            'HOLDFAST_RETENTION_HOURS',
            readRetentionHours,
            describeLimit(LIMITS.retentionHours),
          ),
    ...(hasDeterminism && {
      determinism: reader.take(
        DETERMINISM_VARIABLE,
        readDeterminism,
        DETERMINISM_RULE,
        'correct it, or remove it: then the code decides',
      ),
    }),
  };
  reader.refuseProblems('environment of an operator function');
  return environment;
}

/** The pair of `readEnvironment`: what the deployment sets. Values may be CDK tokens. */
export function writeEnvironment(environment: OperatorEnvironment): Record<string, string> {
  return {
    HOLDFAST_JOB: environment.job,
    HOLDFAST_OPERATOR: environment.operator,
    HOLDFAST_STREAM_ARN: environment.streamArn,
    HOLDFAST_STATE_TABLE: environment.stateTable,
    HOLDFAST_CONTROL_TABLE: environment.controlTable,
    HOLDFAST_DEAD_LETTER_TABLE: environment.deadLetterTable,
    HOLDFAST_BUCKET: environment.bucket,
    HOLDFAST_MAX_PARALLELISM: String(environment.maxParallelism),
    HOLDFAST_SINKS: JSON.stringify(Object.fromEntries(environment.sinks)),
    HOLDFAST_RETENTION_HOURS: String(environment.retentionHours),
    ...(environment.determinism !== undefined && {
      [DETERMINISM_VARIABLE]: environment.determinism,
    }),
  };
}

/** @throws ConfigurationError naming every variable that is missing or wrong. */
export function readRegistrarEnvironment(env: Variables): RegistrarEnvironment {
  const reader = readVariables(env);
  const environment: RegistrarEnvironment = {
    controlTable: reader.take('HOLDFAST_CONTROL_TABLE', readTableName, TABLE_RULE),
    bucket: reader.take('HOLDFAST_BUCKET', readBucketName, BUCKET_RULE),
  };
  reader.refuseProblems('environment of the job registrar');
  return environment;
}

/** The pair of `readRegistrarEnvironment`. Values may be CDK tokens. */
export function writeRegistrarEnvironment(
  environment: RegistrarEnvironment,
): Record<string, string> {
  return {
    HOLDFAST_CONTROL_TABLE: environment.controlTable,
    HOLDFAST_BUCKET: environment.bucket,
  };
}

/** @throws ConfigurationError naming every variable that is missing or wrong. */
export function readHeartbeatEnvironment(env: Variables): HeartbeatEnvironment {
  const reader = readVariables(env);
  const environment: HeartbeatEnvironment = {
    job: reader.take('HOLDFAST_JOB', readName, NAME_RULE),
    streamArn: reader.take('HOLDFAST_STREAM_ARN', readStreamArn, 'the ARN of a Kinesis stream'),
    behindSeconds: reader.take(
      'HOLDFAST_HEARTBEAT_BEHIND_SECONDS',
      readHeartbeatBehind,
      describeLimit(LIMITS.heartbeatBehindSeconds),
    ),
  };
  reader.refuseProblems('environment of the heartbeat function');
  return environment;
}

/** The pair of `readHeartbeatEnvironment`. Values may be CDK tokens. */
export function writeHeartbeatEnvironment(
  environment: HeartbeatEnvironment,
): Record<string, string> {
  return {
    HOLDFAST_JOB: environment.job,
    HOLDFAST_STREAM_ARN: environment.streamArn,
    HOLDFAST_HEARTBEAT_BEHIND_SECONDS: String(environment.behindSeconds),
  };
}

export interface VariableReader {
  /** Notes a problem if `read` finds no value. What it returns then never leaves this file. */
  take<Value>(
    name: string,
    read: (text: string) => Value | undefined,
    expected: string,
    remedy?: string,
  ): Value;
  refuseProblems(subject: string): void;
}

export function readVariables(env: Variables): VariableReader {
  const problems: ConfigurationProblem[] = [];
  return {
    take<Value>(
      name: string,
      read: (text: string) => Value | undefined,
      expected: string,
      remedy = REDEPLOY,
    ) {
      const text = env[name];
      const value = text === undefined ? undefined : read(text);
      if (value === undefined) {
        problems.push({ name, got: showValue(text), expected, remedy });
      }
      return value as Value;
    },
    refuseProblems(subject) {
      if (problems.length > 0) throw new ConfigurationError(subject, problems);
    },
  };
}

export const TABLE_RULE = 'the name of a DynamoDB table';
export const BUCKET_RULE = 'the name of an S3 bucket';
const SINKS_RULE = `a JSON object of sink name → table name, {} if there are none (sink names: ${NAME_RULE})`;

const DETERMINISM_RULE = 'count or strict';

function readDeterminism(text: string): DeterminismSetting | undefined {
  return text === 'count' || text === 'strict' ? text : undefined;
}

export function readName(text: string): string | undefined {
  return isName(text) ? text : undefined;
}

export function readStreamArn(text: string): string | undefined {
  return /^arn:[\w-]+:kinesis:[\w-]*:\d*:stream\/[\w.-]{1,128}$/.test(text) ? text : undefined;
}

export function readTableName(text: string): string | undefined {
  return /^[\w.-]{3,255}$/.test(text) ? text : undefined;
}

export function readBucketName(text: string): string | undefined {
  return /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(text) ? text : undefined;
}

function readMaxParallelism(text: string): number | undefined {
  const value = readWholeNumber(text);
  return isMaxParallelism(value) ? value : undefined;
}

function readRetentionHours(text: string): number | undefined {
  const value = readWholeNumber(text);
  return isWithin(LIMITS.retentionHours, value) ? value : undefined;
}

function readHeartbeatBehind(text: string): number | undefined {
  const value = readWholeNumber(text);
  return isWithin(LIMITS.heartbeatBehindSeconds, value) ? value : undefined;
}

// Number('') is 0 and Number('1e3') is 1000: only plain digits are what the deployment writes.
function readWholeNumber(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

function readSinks(text: string): ReadonlyMap<string, string> | undefined {
  const sinks = new Map<string, string>();
  const parsed = parseJson(text);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return undefined;
  for (const [name, table] of Object.entries(parsed)) {
    if (!isName(name) || typeof table !== 'string' || readTableName(table) === undefined) {
      return undefined;
    }
    sinks.set(name, table);
  }
  return sinks;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
