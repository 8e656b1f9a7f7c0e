import type { Condition } from './choice-rules.ts';
import type { Expression, PutResult } from './json-path.ts';
import type { JsonValue } from './json-value.ts';
import type { Catcher, Retrier } from './retry-rules.ts';

/** States and where they begin: a state machine, or what a Map runs for each item. */
export interface StateGraph {
  readonly startAt: string;
  readonly states: ReadonlyMap<string, State>;
}

export interface StateMachineDefinition extends StateGraph {
  readonly timeoutSeconds: number | undefined;
}

export type State =
  PassState | TaskState | ChoiceState | WaitState | MapState | SucceedState | FailState;

interface CommonState {
  readonly name: string;
  /** InputPath: from the raw input. */
  readonly selectInput: Expression;
  /** OutputPath: from what ResultPath has made. */
  readonly selectOutput: Expression;
}

/** The state that follows; undefined where the graph ends. */
interface Continuing {
  readonly next: string | undefined;
}

/** A state that does something that can fail, be tried again, and be caught. */
interface Working extends CommonState, Continuing {
  /** ResultSelector. */
  readonly selectResult: Expression;
  /** ResultPath. */
  readonly putResult: PutResult;
  readonly retriers: readonly Retrier[];
  readonly catchers: readonly Catcher[];
}

export interface PassState extends CommonState, Continuing {
  readonly type: 'Pass';
  /** Parameters. */
  readonly parameters: Expression;
  readonly result: JsonValue | undefined;
  readonly putResult: PutResult;
}

export interface TaskState extends Working {
  readonly type: 'Task';
  readonly parameters: Expression;
  /** A function's ARN that stands in Resource; undefined for `arn:aws:states:::lambda:invoke`. */
  readonly functionArn: string | undefined;
  readonly timeoutSeconds: Expression | undefined;
}

export interface ChoiceState extends CommonState {
  readonly type: 'Choice';
  readonly choices: readonly { readonly condition: Condition; readonly next: string }[];
  readonly fallback: string | undefined;
}

export interface WaitState extends CommonState, Continuing {
  readonly type: 'Wait';
  readonly until:
    | { readonly kind: 'seconds'; readonly seconds: Expression }
    | { readonly kind: 'timestamp'; readonly timestamp: Expression };
}

export interface MapState extends Working {
  readonly type: 'Map';
  /** ItemsPath: from the effective input. */
  readonly selectItems: Expression;
  /** ItemSelector; undefined passes the item itself. */
  readonly selectItem: Expression | undefined;
  /** 0 leaves it to the service. */
  readonly concurrencyMax: Expression;
  readonly iteration: StateGraph;
}

export interface SucceedState extends CommonState {
  readonly type: 'Succeed';
}

export interface FailState extends CommonState {
  readonly type: 'Fail';
  readonly error: Expression | undefined;
  readonly cause: Expression | undefined;
}
