import type { BackupLocation } from './backup-location.ts';
import { readOperatorFunctions, takeBackup, writeBackup } from './coordinator-environment.ts';
import {
  BUCKET_RULE,
  parseJson,
  readBucketName,
  readName,
  readStreamArn,
  readTableName,
  readVariables,
  TABLE_RULE,
  type Variables,
} from './environment.ts';
import { isName, NAME_RULE } from './limits.ts';

/** A sink of a deployed job. */
export interface DeployedSink {
  readonly operator: string;
  readonly name: string;
  readonly kind: 'append' | 'upsert';
  readonly table: string;
}

/** Where the job is that this one is a clone of (R12). */
export interface ClonedJobPlace {
  readonly job: string;
  readonly controlTable: string;
  readonly bucket: string;
}

/** What the function of the workflows' steps is told by its deployment. */
export interface WorkflowEnvironment {
  readonly job: string;
  readonly streamArn: string;
  readonly stateTable: string;
  readonly controlTable: string;
  readonly deadLetterTable: string;
  readonly bucket: string;
  /** Operator → name of its function. */
  readonly operatorFunctions: ReadonlyMap<string, string>;
  readonly sinks: readonly DeployedSink[];
  /** The job that this one is a clone of; left out where it is none. */
  readonly cloned?: ClonedJobPlace;
  /** Operator → id of its event source mapping. */
  readonly mappings: ReadonlyMap<string, string>;
  /** What takes second copies of manifests and savepoints; undefined for none. */
  readonly backup: BackupLocation | undefined;
}

const CLONED_JOB_VARIABLE = 'HOLDFAST_CLONED_JOB';

/** @throws ConfigurationError naming every variable that is missing or wrong. */
export function readWorkflowEnvironment(env: Variables): WorkflowEnvironment {
  const reader = readVariables(env);
  const environment: WorkflowEnvironment = {
    job: reader.take('HOLDFAST_JOB', readName, NAME_RULE),
    streamArn: reader.take('HOLDFAST_STREAM_ARN', readStreamArn, 'the ARN of a Kinesis stream'),
    stateTable: reader.take('HOLDFAST_STATE_TABLE', readTableName, TABLE_RULE),
    controlTable: reader.take('HOLDFAST_CONTROL_TABLE', readTableName, TABLE_RULE),
    deadLetterTable: reader.take('HOLDFAST_DEAD_LETTER_TABLE', readTableName, TABLE_RULE),
    bucket: reader.take('HOLDFAST_BUCKET', readBucketName, BUCKET_RULE),
    operatorFunctions: reader.take(
      'HOLDFAST_OPERATOR_FUNCTIONS',
      readOperatorFunctions,
      'a JSON object of operator id → function name',
    ),
    sinks: reader.take(
      'HOLDFAST_DEPLOYED_SINKS',
      readSinks,
      'a JSON list of sinks, each [operator, name, append or upsert, table]',
    ),
    ...(env[CLONED_JOB_VARIABLE] !== undefined && {
      cloned: reader.take(
        CLONED_JOB_VARIABLE,
        readClonedJob,
        'a JSON list of the name, the control table and the bucket of the job that is cloned',
      ),
    }),
    mappings: reader.take(
      'HOLDFAST_EVENT_SOURCE_MAPPINGS',
      readOperatorFunctions,
      'a JSON object of operator id → id of its event source mapping',
    ),
    backup: takeBackup(env, reader),
  };
  reader.refuseProblems('environment of the workflow steps');
  return environment;
}

/** The pair of `readWorkflowEnvironment`. Values may be CDK tokens. */
export function writeWorkflowEnvironment(environment: WorkflowEnvironment): Record<string, string> {
  return {
    HOLDFAST_JOB: environment.job,
    HOLDFAST_STREAM_ARN: environment.streamArn,
    HOLDFAST_STATE_TABLE: environment.stateTable,
    HOLDFAST_CONTROL_TABLE: environment.controlTable,
    HOLDFAST_DEAD_LETTER_TABLE: environment.deadLetterTable,
    HOLDFAST_BUCKET: environment.bucket,
    HOLDFAST_OPERATOR_FUNCTIONS: JSON.stringify(Object.fromEntries(environment.operatorFunctions)),
    HOLDFAST_DEPLOYED_SINKS: JSON.stringify(
      environment.sinks.map(({ operator, name, kind, table }) => [operator, name, kind, table]),
    ),
    ...(environment.cloned !== undefined && {
      [CLONED_JOB_VARIABLE]: JSON.stringify([
        environment.cloned.job,
        environment.cloned.controlTable,
        environment.cloned.bucket,
      ]),
    }),
    HOLDFAST_EVENT_SOURCE_MAPPINGS: JSON.stringify(Object.fromEntries(environment.mappings)),
    ...writeBackup(environment.backup),
  };
}

function readSinks(text: string): readonly DeployedSink[] | undefined {
  const parsed = parseJson(text);
  if (!Array.isArray(parsed)) return undefined;
  const sinks: DeployedSink[] = [];
  for (const entry of parsed as unknown[]) {
    if (!Array.isArray(entry) || entry.length !== 4 || !entry.every(isText)) return undefined;
    const [operator, name, kind, table] = entry as [string, string, string, string];
    if (!isName(operator) || !isName(name) || readTableName(table) === undefined) return undefined;
    if (kind !== 'append' && kind !== 'upsert') return undefined;
    sinks.push({ operator, name, kind, table });
  }
  return sinks;
}

function readClonedJob(text: string): ClonedJobPlace | undefined {
  const parsed = parseJson(text);
  if (!Array.isArray(parsed) || parsed.length !== 3 || !parsed.every(isText)) return undefined;
  const [job, controlTable, bucket] = parsed as [string, string, string];
  const isPlace =
    isName(job) &&
    readTableName(controlTable) !== undefined &&
    readBucketName(bucket) !== undefined;
  return isPlace ? { job, controlTable, bucket } : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
