/*
 * What a CloudFormation template says of jobs. Pure: templates come from `cdk synth` and from CloudFormation.
 */

export interface TemplateResource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

export interface Template {
  readonly Resources: Readonly<Record<string, TemplateResource>>;
}

/** The function of an operator, as a template has it. */
export interface OperatorCode {
  readonly operator: string;
  readonly logicalId: string;
  /** Name of the code's object in the bucket for assets; undefined where the code is not an asset. */
  readonly asset: string | undefined;
  readonly handler: string;
  readonly timeoutMs: number;
  /** Values are texts or intrinsic functions. */
  readonly variables: Readonly<Record<string, unknown>>;
}

/** A job, as a template declares it. */
export interface TemplateJob {
  readonly name: string;
  readonly maxParallelism: number;
  readonly operators: readonly string[];
  /** Name → kind. */
  readonly sinks: Readonly<Record<string, string>>;
  /** An ARN, or an intrinsic function. */
  readonly stream: unknown;
  readonly code: readonly OperatorCode[];
  /** How often it makes a checkpoint, ms; undefined where the template does not say so. */
  readonly checkpointIntervalMs: number | undefined;
}

/** @throws Error where it is no template */
export function readTemplate(text: string, where: string): Template {
  const parsed = JSON.parse(text) as Partial<Template> | null;
  if (typeof parsed?.Resources !== 'object') {
    throw new Error(`${where} has no resources; expected a CloudFormation template as JSON`);
  }
  return parsed as Template;
}

/** Every job that a template declares. */
export function listJobs({ Resources }: Template): TemplateJob[] {
  const resources = Object.entries(Resources);
  return resources.flatMap(([, { Type, Properties = {} }]) => {
    const { JobName, MaxParallelism, Operators, Sinks, StreamArn } = Properties;
    if (Type !== 'Custom::HoldfastJob' || typeof JobName !== 'string') return [];
    const own = resources.filter(
      ([, resource]) => variablesOf(resource)['HOLDFAST_JOB'] === JobName,
    );
    return [
      {
        name: JobName,
        maxParallelism: Number(MaxParallelism),
        operators: Array.isArray(Operators) ? Operators.map(String) : [],
        sinks: (Sinks ?? {}) as Readonly<Record<string, string>>,
        stream: StreamArn,
        code: own.flatMap(([logicalId, resource]) => readCode(logicalId, resource) ?? []),
        checkpointIntervalMs: own
          .map(([, resource]) => readInterval(variablesOf(resource)['HOLDFAST_CHECKPOINTING']))
          .find((intervalMs) => intervalMs !== undefined),
      },
    ];
  });
}

function variablesOf({ Type, Properties }: TemplateResource): Readonly<Record<string, unknown>> {
  if (Type !== 'AWS::Lambda::Function') return {};
  const environment = Properties?.['Environment'] as
    { readonly Variables?: Readonly<Record<string, unknown>> } | undefined;
  return environment?.Variables ?? {};
}

/** Lambda's own default, s. */
const defaultTimeoutSeconds = 3;

function readCode(logicalId: string, resource: TemplateResource): OperatorCode | undefined {
  const variables = variablesOf(resource);
  const operator = variables['HOLDFAST_OPERATOR'];
  if (typeof operator !== 'string') return undefined;
  const { Code, Handler, Timeout } = resource.Properties ?? {};
  const { S3Key } = (Code ?? {}) as { readonly S3Key?: unknown };
  return {
    operator,
    logicalId,
    asset: typeof S3Key === 'string' ? S3Key : undefined,
    handler: typeof Handler === 'string' ? Handler : '',
    timeoutMs: (typeof Timeout === 'number' ? Timeout : defaultTimeoutSeconds) * 1_000,
    variables,
  };
}

function readInterval(settings: unknown): number | undefined {
  if (typeof settings !== 'string') return undefined;
  const { intervalSeconds } = JSON.parse(settings) as { readonly intervalSeconds?: unknown };
  return typeof intervalSeconds === 'number' ? intervalSeconds * 1_000 : undefined;
}
