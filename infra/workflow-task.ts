import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import {
  Choice,
  Condition,
  Errors,
  FieldUtils,
  type IChainable,
  JitterType,
  JsonPath,
  Map as MapState,
  Pass,
  type State,
  type TaskMetricsConfig,
  TaskStateBase,
  Timeout,
} from 'aws-cdk-lib/aws-stepfunctions';
import { Duration } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { FINAL_STEP_ERRORS, type WorkflowStep } from '../shared/config/workflow-steps.ts';

/** Somewhat longer than the function may run: for invocations of which nothing is heard any more. */
const TASK_TIMEOUT = Duration.minutes(16);

/** Field of a step's input → path. */
export type StepFields = Readonly<Record<string, string>>;

export interface StepTaskProps {
  readonly function: IFunction;
  readonly step: WorkflowStep;
  readonly fields: StepFields;
  /** Where the result goes. @default - it is dropped */
  readonly resultPath?: string;
  /** How often is tried again what may pass: a death, a timeout, a dependency without an answer. */
  readonly attempts: number;
}

/**
 * One step. The task of CDK's own would also let the role invoke every version of the function, and its usual retries know
 * neither of a process that is killed (`Runtime.ExitError`) nor of a function's own timeout (`Sandbox.Timedout`).
 */
class StepTask extends TaskStateBase {
  protected readonly taskMetrics: TaskMetricsConfig = {};
  protected readonly taskPolicies = [];
  readonly #call: object;

  constructor(scope: Construct, id: string, props: StepTaskProps) {
    super(scope, id, {
      resultPath: props.resultPath ?? JsonPath.DISCARD,
      taskTimeout: Timeout.duration(TASK_TIMEOUT),
    });
    const paths = Object.entries(props.fields).map(([field, path]) => [
      field,
      JsonPath.objectAt(path),
    ]);
    this.#call = {
      Resource: props.function.functionArn,
      Parameters: FieldUtils.renderObject({
        step: props.step,
        ...(Object.fromEntries(paths) as object),
      }),
    };
  }

  protected override _renderTask(): object {
    return this.#call;
  }
}

/** A step with its retries. Each error has a rule: what is final, too much at once, and all that may pass. */
export function createStepTask(scope: Construct, id: string, props: StepTaskProps): TaskStateBase {
  return new StepTask(scope, id, props)
    .addRetry({ errors: [...FINAL_STEP_ERRORS], maxAttempts: 0 })
    .addRetry({
      errors: ['Lambda.TooManyRequestsException'],
      interval: Duration.seconds(1),
      backoffRate: 2,
      maxDelay: Duration.seconds(30),
      maxAttempts: 20,
      jitterStrategy: JitterType.FULL,
    })
    .addRetry({
      // Runtime.ExitError, Sandbox.Timedout, Lambda.Unknown, States.Timeout, Holdfast.unavailable, and what has no name yet.
      errors: [Errors.ALL],
      interval: Duration.seconds(1),
      backoffRate: 2,
      maxDelay: Duration.seconds(60),
      maxAttempts: props.attempts,
    });
}

/** Calls a step until `isDone` of its result is true, then goes on. */
export function loopUntilDone(
  scope: Construct,
  task: State,
  resultPath: string,
  next: IChainable,
): void {
  const isDone = new Choice(scope, `${task.id}: done?`)
    .when(Condition.booleanEquals(`${resultPath}.isDone`, true), next)
    .otherwise(task);
  (task as TaskStateBase).next(isDone);
}

export interface PartsProps extends Omit<StepTaskProps, 'resultPath'> {
  /** The list of parts. */
  readonly itemsPath: string;
  /** Where the list of parts that are done goes. */
  readonly resultPath: string;
  readonly concurrency: number;
}

/**
 * Calls a step for each part of a list, some at once, each until it is done. What a part's task cannot do after its retries ends
 * all others and is the error of the whole.
 */
export function createParts(scope: Construct, id: string, props: PartsProps): MapState {
  const { itemsPath, resultPath, concurrency, fields, ...task } = props;
  const own = Object.fromEntries(
    Object.keys(fields).map((field): [string, string] => [field, `$.${field}`]),
  );
  const selected = Object.entries(fields).map(([field, path]) => [field, JsonPath.objectAt(path)]);
  const work = createStepTask(scope, `${id}: a part`, {
    ...task,
    fields: { ...own, part: '$.part' },
    resultPath: '$.part',
  });
  loopUntilDone(
    scope,
    work,
    '$.part',
    new Pass(scope, `${id}: the part is done`, { outputPath: '$.part' }),
  );
  const parts = new MapState(scope, id, {
    itemsPath,
    itemSelector: {
      ...(Object.fromEntries(selected) as object),
      part: JsonPath.objectAt('$$.Map.Item.Value'),
    },
    maxConcurrency: concurrency,
    resultPath,
  });
  return parts.itemProcessor(work);
}
