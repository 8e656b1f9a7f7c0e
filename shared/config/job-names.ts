import * as z from 'zod';
import { isName } from './limits.ts';

/*
 * Where the command line finds a deployed job: an output of its stack, so that nobody has to copy names. Its fields are the
 * variables that the command line reads. Written and read here only.
 */

/** The names of what belongs to a deployed job; a stack's own may be CDK tokens when they are written. */
export interface JobNames {
  readonly job: string;
  readonly streamArn: string;
  readonly controlTable: string;
  readonly deadLetterTable: string;
  readonly bucket: string;
  /** Operator → name of its function. */
  readonly operatorFunctions: ReadonlyMap<string, string>;
  readonly workflowFunction: string;
  readonly savepointWorkflow: string;
  readonly restoreWorkflow: string;
}

const text = z.string().min(1);

const written = z.object({
  HOLDFAST_JOB: z.string().refine(isName),
  HOLDFAST_STREAM_ARN: text,
  HOLDFAST_CONTROL_TABLE: text,
  HOLDFAST_DEAD_LETTER_TABLE: text,
  HOLDFAST_BUCKET: text,
  HOLDFAST_OPERATOR_FUNCTIONS: z.record(text, text),
  HOLDFAST_WORKFLOW_FUNCTION: text,
  HOLDFAST_SAVEPOINT_WORKFLOW: text,
  HOLDFAST_RESTORE_WORKFLOW: text,
});

/** The output's value before it becomes JSON. */
export function writeJobNames(names: JobNames): Record<string, unknown> {
  return {
    HOLDFAST_JOB: names.job,
    HOLDFAST_STREAM_ARN: names.streamArn,
    HOLDFAST_CONTROL_TABLE: names.controlTable,
    HOLDFAST_DEAD_LETTER_TABLE: names.deadLetterTable,
    HOLDFAST_BUCKET: names.bucket,
    HOLDFAST_OPERATOR_FUNCTIONS: Object.fromEntries(names.operatorFunctions),
    HOLDFAST_WORKFLOW_FUNCTION: names.workflowFunction,
    HOLDFAST_SAVEPOINT_WORKFLOW: names.savepointWorkflow,
    HOLDFAST_RESTORE_WORKFLOW: names.restoreWorkflow,
  } satisfies Record<keyof z.input<typeof written>, unknown>;
}

/** The pair of `writeJobNames`, from the value of an output. Undefined for any other output. */
export function readJobNames(value: string): JobNames | undefined {
  const read = written.safeParse(parseObject(value));
  if (!read.success) return undefined;
  const { data } = read;
  return {
    job: data.HOLDFAST_JOB,
    streamArn: data.HOLDFAST_STREAM_ARN,
    controlTable: data.HOLDFAST_CONTROL_TABLE,
    deadLetterTable: data.HOLDFAST_DEAD_LETTER_TABLE,
    bucket: data.HOLDFAST_BUCKET,
    operatorFunctions: new Map(Object.entries(data.HOLDFAST_OPERATOR_FUNCTIONS)),
    workflowFunction: data.HOLDFAST_WORKFLOW_FUNCTION,
    savepointWorkflow: data.HOLDFAST_SAVEPOINT_WORKFLOW,
    restoreWorkflow: data.HOLDFAST_RESTORE_WORKFLOW,
  };
}

function parseObject(value: string): unknown {
  if (!value.startsWith('{')) return undefined;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return undefined;
  }
}
