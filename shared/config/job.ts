import * as z from 'zod';
import { checkCheckpointing, checkpointingSchema } from './checkpointing.ts';
import { showValue, describeProblem, type ConfigurationProblem } from './configuration-error.ts';
import { toJobProblems } from './job-problem.ts';
import { rule, within } from './limit-rule.ts';
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

/** `append` keeps every emission; `upsert` keeps the last one for each business key. */
export const SINK_KINDS = ['append', 'upsert'] as const;
export type SinkKind = (typeof SINK_KINDS)[number];

const retentionHours = within('retention', LIMITS.retentionHours);

const sourceSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('provisioned'),
    shards: within('shards', LIMITS.shards),
    retentionHours: retentionHours.default(DEFAULTS.retentionHours),
  }),
  z.strictObject({
    kind: z.literal('on-demand'),
    retentionHours: retentionHours.default(DEFAULTS.retentionHours),
  }),
  // No default: a retention that is assumed longer or shorter than it is loses tombstones too
  // early or reports gaps too late.
  z.strictObject({ kind: z.literal('existing'), retentionHours }),
]);

const sinksSchema = z.record(
  z.custom<string>(isName, rule('sink-name', NAME_RULE, 'rename the sink')),
  z.custom<SinkKind>(
    (value) => SINK_KINDS.some((kind) => kind === value),
    rule('sink-kind', "'append' or 'upsert'", 'say how the sink takes its rows'),
  ),
);

const operatorSchema = z.strictObject({
  id: z.custom<string>(isName, rule('operator-id', NAME_RULE, 'rename the operator')),
  entry: z.custom<string>(
    (value) => typeof value === 'string' && /\.m?[jt]s$/.test(value),
    rule(
      'entry',
      'the path of a .ts, .mts, .js or .mjs file that exports `handler`',
      'name the file of the operator',
    ),
  ),
  sinks: sinksSchema.default({}),
  batchSize: within('batch-size', LIMITS.batchSize).default(DEFAULTS.batchSize),
  batchingWindowSeconds: within('batching-window', LIMITS.batchingWindowSeconds).default(
    DEFAULTS.batchingWindowSeconds,
  ),
  memorySizeMb: within('memory-size', LIMITS.memorySizeMb).default(DEFAULTS.memorySizeMb),
  timeoutSeconds: within('timeout', LIMITS.timeoutSeconds).default(DEFAULTS.timeoutSeconds),
});

// No default for how far behind: one that is too close to now makes events late for which the operator would have waited,
// and only the author knows when events come.
const heartbeatSchema = z.strictObject({
  everyMinutes: within('heartbeat-every', LIMITS.heartbeatEveryMinutes),
  behindSeconds: within('heartbeat-behind', LIMITS.heartbeatBehindSeconds),
});

/**
 * What a deployment is told about a job. Each operator reads the job's source and nothing else: a
 * job is *direct* (C2). An operator that reads what another one writes needs a stream between
 * them that the job owns; it will be a field of the operator here, and a second kind of source.
 */
const jobSchema = z.strictObject({
  jobName: z.custom<string>(isName, rule('job-name', NAME_RULE, 'rename the job')),
  maxParallelism: z
    .custom<number>(
      isMaxParallelism,
      rule('max-parallelism', MAX_PARALLELISM_RULE, 'choose the next power of two'),
    )
    .default(DEFAULTS.maxParallelism),
  source: sourceSchema,
  operators: z.array(operatorSchema),
  checkpointing: checkpointingSchema.prefault({}),
  generationRetentionHours: within('generation-retention', LIMITS.generationRetentionHours).default(
    DEFAULTS.generationRetentionHours,
  ),
  heartbeat: heartbeatSchema.optional(),
  cloneOf: z
    .custom<string>(isName, rule('clone-of', NAME_RULE, 'name the job that is cloned'))
    .optional(),
});

/** A job as its author writes it: what is left out has a default. */
export type JobDescription = z.input<typeof jobSchema>;
/** A job with every default filled in. */
export type Job = z.output<typeof jobSchema>;
export type JobOperator = Job['operators'][number];
export type JobHeartbeat = NonNullable<Job['heartbeat']>;

export interface JobProblem extends ConfigurationProblem {
  /** Stable and short, for tests and tools: `batch-size`, `duplicate-operator`, … */
  readonly code: string;
  /** The whole sentence: value, rule and remedy. */
  readonly message: string;
}

/** Every problem of the job, in the order of its fields; none if it can be deployed. */
export function checkJob(description: unknown): readonly JobProblem[] {
  const shape = jobSchema.safeParse(description, { reportInput: true });
  const problems = shape.success ? [] : shape.error.issues.flatMap(toJobProblems);
  return [
    ...problems,
    ...checkCounts(description),
    ...checkDuplicates(description),
    ...checkClone(description),
    ...checkCheckpointing('checkpointing', field(description, 'checkpointing') ?? {}),
  ].map((problem) => ({ ...problem, message: describeProblem(problem) }));
}

/** The job with its defaults. Only for a description in which `checkJob` finds no problem. */
export function completeJob(description: JobDescription): Job {
  return jobSchema.parse(description);
}

type CountedProblem = Omit<JobProblem, 'message'>;

// These look at the description as it came, so that they are told in one go with wrong fields.
function checkCounts(description: unknown): CountedProblem[] {
  const operators = listOperators(description);
  const counts = [
    ...(Array.isArray(field(description, 'operators'))
      ? [
          {
            code: 'operator-count',
            name: 'operators',
            count: operators.length,
            limit: LIMITS.operatorsPerJob,
          },
        ]
      : []),
    ...operators.map((operator, index) => ({
      code: 'sink-count',
      name: `operators[${index}].sinks`,
      count: operator.sinks.length,
      limit: LIMITS.sinksPerOperator,
    })),
  ];
  return counts
    .filter(({ count, limit }) => !isWithin(limit, count))
    .map(({ code, name, count, limit }) => ({
      code,
      name,
      got: String(count),
      expected: describeLimit(limit),
      remedy: count < limit.min ? 'add what is missing' : 'spread them over several jobs',
    }));
}

/** R12: what a clone goes on from are positions in the stream of the job that it clones, under a name of its own. */
function checkClone(description: unknown): CountedProblem[] {
  const cloneOf = field(description, 'cloneOf');
  if (cloneOf === undefined) return [];
  const kind = field(field(description, 'source'), 'kind');
  const isItself = cloneOf === field(description, 'jobName');
  return [
    ...(isItself
      ? [
          {
            code: 'clone-of-itself',
            name: 'cloneOf',
            got: showValue(cloneOf),
            expected: 'another job',
            remedy: 'give the clone a jobName of its own; state and checkpoints are kept under it',
          },
        ]
      : []),
    ...(kind === 'provisioned' || kind === 'on-demand'
      ? [
          {
            code: 'clone-source',
            name: 'source',
            got: `a new stream (${kind})`,
            expected: 'the stream of the job that is cloned',
            remedy: 'take it with existingStream(job.stream, …)',
          },
        ]
      : []),
  ];
}

function checkDuplicates(description: unknown): CountedProblem[] {
  const operators = listOperators(description);
  const ids = operators.map(({ id }, index) => ({ value: id, name: `operators[${index}].id` }));
  const sinks = operators.flatMap((operator, index) =>
    operator.sinks.map((value) => ({ value, name: `operators[${index}].sinks.${value}` })),
  );
  return [
    ...findRepeated(ids).map(({ value, name }) => ({
      code: 'duplicate-operator',
      name,
      got: showValue(value),
      expected: 'an id that no other operator of the job has (state is kept under it)',
      remedy: 'rename one of the two; renaming one that has run abandons its state',
    })),
    ...findRepeated(sinks).map(({ value, name }) => ({
      code: 'duplicate-sink',
      name,
      got: showValue(value),
      expected: 'a sink name that no other operator of the job has (each sink has one writer)',
      remedy: 'give each operator a sink of its own',
    })),
  ];
}

function findRepeated<Named extends { readonly value: unknown }>(all: readonly Named[]): Named[] {
  return all.filter(
    ({ value }, index) =>
      value !== undefined && all.findIndex((other) => other.value === value) < index,
  );
}

function listOperators(description: unknown): { id: unknown; sinks: readonly string[] }[] {
  const operators = field(description, 'operators');
  if (!Array.isArray(operators)) return [];
  return operators.map((operator: unknown) => {
    const sinks = field(operator, 'sinks');
    return {
      id: field(operator, 'id'),
      sinks: typeof sinks === 'object' && sinks !== null ? Object.keys(sinks) : [],
    };
  });
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}
