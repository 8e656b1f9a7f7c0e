import {
  BACKUP_RULE,
  readBackupLocation,
  writeBackupLocation,
  type BackupLocation,
} from './backup-location.ts';
import { checkCheckpointing, checkpointingSchema, type Checkpointing } from './checkpointing.ts';
import {
  BUCKET_RULE,
  parseJson,
  readBucketName,
  readName,
  readStreamArn,
  readTableName,
  readVariables,
  TABLE_RULE,
  type VariableReader,
  type Variables,
} from './environment.ts';
import { isName, NAME_RULE } from './limits.ts';

/** What the coordinator is told by its deployment. */
export interface CoordinatorEnvironment {
  readonly job: string;
  readonly controlTable: string;
  readonly bucket: string;
  readonly streamArn: string;
  /** Operator → name of its function. */
  readonly operatorFunctions: ReadonlyMap<string, string>;
  readonly checkpointing: Checkpointing;
  /** What takes second copies of manifests and savepoints; undefined for none. */
  readonly backup: BackupLocation | undefined;
}

/** @throws ConfigurationError naming every variable that is missing or wrong. */
export function readCoordinatorEnvironment(env: Variables): CoordinatorEnvironment {
  const reader = readVariables(env);
  const environment: CoordinatorEnvironment = {
    job: reader.take('HOLDFAST_JOB', readName, NAME_RULE),
    controlTable: reader.take('HOLDFAST_CONTROL_TABLE', readTableName, TABLE_RULE),
    bucket: reader.take('HOLDFAST_BUCKET', readBucketName, BUCKET_RULE),
    streamArn: reader.take('HOLDFAST_STREAM_ARN', readStreamArn, 'the ARN of a Kinesis stream'),
    operatorFunctions: reader.take(
      'HOLDFAST_OPERATOR_FUNCTIONS',
      readOperatorFunctions,
      'a JSON object of operator id → function name',
    ),
    checkpointing: reader.take(
      'HOLDFAST_CHECKPOINTING',
      readCheckpointing,
      'the settings of checkpoints as JSON',
    ),
    backup: takeBackup(env, reader),
  };
  reader.refuseProblems('environment of the coordinator');
  return environment;
}

/** The pair of `readCoordinatorEnvironment`. Values may be CDK tokens. */
export function writeCoordinatorEnvironment(
  environment: CoordinatorEnvironment,
): Record<string, string> {
  return {
    HOLDFAST_JOB: environment.job,
    HOLDFAST_CONTROL_TABLE: environment.controlTable,
    HOLDFAST_BUCKET: environment.bucket,
    HOLDFAST_STREAM_ARN: environment.streamArn,
    HOLDFAST_OPERATOR_FUNCTIONS: JSON.stringify(Object.fromEntries(environment.operatorFunctions)),
    HOLDFAST_CHECKPOINTING: JSON.stringify(environment.checkpointing),
    ...writeBackup(environment.backup),
  };
}

const BACKUP_VARIABLE = 'HOLDFAST_BACKUP';

export function takeBackup(env: Variables, reader: VariableReader): BackupLocation | undefined {
  if (env[BACKUP_VARIABLE] === undefined) return undefined;
  return reader.take(BACKUP_VARIABLE, readBackupLocation, BACKUP_RULE);
}

/** The pair of `takeBackup`. */
export function writeBackup(backup: BackupLocation | undefined): Record<string, string> {
  return backup === undefined ? {} : { [BACKUP_VARIABLE]: writeBackupLocation(backup) };
}

/** Operator → function, from JSON. */
export function readOperatorFunctions(text: string): ReadonlyMap<string, string> | undefined {
  const parsed = parseJson(text);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return undefined;
  const functions = new Map<string, string>();
  for (const [operator, name] of Object.entries(parsed)) {
    if (!isName(operator) || typeof name !== 'string' || !functionPattern.test(name)) {
      return undefined;
    }
    functions.set(operator, name);
  }
  return functions;
}

/** A name, or an ARN. */
const functionPattern = /^[\w:-]{1,170}$/;

function readCheckpointing(text: string): Checkpointing | undefined {
  const parsed = parseJson(text);
  const read = checkpointingSchema.safeParse(parsed);
  const isSound = read.success && checkCheckpointing('', parsed).length === 0;
  return isSound ? read.data : undefined;
}
