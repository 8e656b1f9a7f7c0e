import { FINAL_STEP_ERRORS } from '../../../shared/config/workflow-steps.ts';
import type { WitnessOrder } from '../lambda/witness-orders.ts';

/*
 * A state machine that uses what the workflows of a job use, each thing once, and ends in a few seconds. A test compares the two:
 * what the workflows begin to use has to be used here, too.
 */

/** How a run is to end. The end of one that fails is known from its error and cause. */
export interface WorkflowInput {
  /** Under which the function counts how often it was asked: where it passes, and where it fails for good. */
  readonly run: string;
  readonly final: string;
  readonly kind: 'succeeds' | 'fails';
}

/** How often the task that passes is refused before. */
export const refusals = 2;
export const finalError = 'Holdfast.conflict';
export const failure = { error: 'DoctorFailed', cause: 'this is how it ends' };
export const parts = [1, 2, 3].map((total) => ({ done: 0, total }));

/** What a run that succeeds gives, as far as it is there. */
export interface WorkflowOutput {
  readonly execution?: string;
  readonly counted?: unknown;
  readonly parts?: readonly unknown[];
  /** How often the task that passes was asked. */
  readonly asked?: number;
  /** The final error as it was caught. */
  readonly failure?: { readonly Error?: string; readonly Cause?: string };
  /** What was caught when the tries were used up. */
  readonly gaveUp?: { readonly Error?: string };
}

type State = Readonly<Record<string, unknown>>;

const retries = [
  { ErrorEquals: [...FINAL_STEP_ERRORS], MaxAttempts: 0 },
  {
    ...{ ErrorEquals: ['Lambda.TooManyRequestsException'], IntervalSeconds: 1, BackoffRate: 2 },
    ...{ MaxDelaySeconds: 30, MaxAttempts: 20, JitterStrategy: 'FULL' },
  },
  {
    ...{ ErrorEquals: ['States.ALL'], IntervalSeconds: 1, BackoffRate: 2 },
    ...{ MaxDelaySeconds: 60, MaxAttempts: 8 },
  },
];

/** @param functionArn of the witness */
export function createDefinition(functionArn: string): object {
  const task = (order: WitnessOrder['order'], fields: State, rest: State): State => ({
    ...{ Type: 'Task', Resource: functionArn, TimeoutSeconds: 60, Retry: retries },
    ...{ Parameters: { order, ...fields }, ...rest },
  });
  const step = (counter: string): State => ({
    'done.$': `${counter}.done`,
    'total.$': `${counter}.total`,
  });
  const caught = (Next: string, path = '$.unexpected'): State => ({
    Catch: [{ ErrorEquals: ['States.ALL'], ResultPath: path, Next }],
  });
  return {
    StartAt: 'Begin',
    States: {
      Begin: {
        Type: 'Pass',
        Parameters: {
          'request.$': '$',
          'execution.$': '$$.Execution.Name',
          counter: { done: 0, total: 3, isDone: false },
          parts,
          // Stays where nothing is caught.
          failure: { Error: 'none', Cause: '' },
          gaveUp: { Error: 'none' },
        },
        Next: 'Count',
      },
      Count: task('step', step('$.counter'), {
        ...{ ResultPath: '$.counter', Next: 'Counted?', ...caught('Unexpected') },
      }),
      'Counted?': {
        Type: 'Choice',
        Choices: [{ Variable: '$.counter.isDone', BooleanEquals: true, Next: 'Parts' }],
        Default: 'Count',
      },
      Parts: {
        ...{ Type: 'Map', ItemsPath: '$.parts', MaxConcurrency: 2, ResultPath: '$.done' },
        ItemSelector: { 'execution.$': '$.execution', 'part.$': '$$.Map.Item.Value' },
        ItemProcessor: createPart(task),
        ...{ Next: 'Was anything caught?', ...caught('Unexpected') },
      },
      'Was anything caught?': {
        Type: 'Choice',
        Choices: [{ Variable: '$.unexpected', IsPresent: true, Next: 'Unexpected' }],
        Default: 'Pass after some time',
      },
      'Pass after some time': task(
        'fail',
        { 'id.$': '$.request.run', times: refusals, error: 'Holdfast.unavailable' },
        { ResultPath: '$.passed', Next: 'Write down', ...caught('Unexpected') },
      ),
      // Its result is dropped.
      'Write down': task(
        'write',
        { 'id.$': '$.execution' },
        { ResultPath: null, Next: 'Use up the tries', ...caught('Unexpected') },
      ),
      'Use up the tries': task(
        'fail',
        { 'id.$': '$.request.run', times: 1_000, error: 'Holdfast.unavailable' },
        {
          Retry: [{ ErrorEquals: ['States.ALL'], IntervalSeconds: 1, MaxAttempts: 1 }],
          ...{ ResultPath: null, Next: 'Unexpected', ...caught('Fail for good', '$.gaveUp') },
        },
      ),
      'Fail for good': task(
        'fail',
        // Where it is asked again it answers, and nothing is caught.
        { 'id.$': '$.request.final', times: 1, error: finalError },
        {
          ...{ ResultPath: null, Next: 'How does it end?' },
          ...caught('How does it end?', '$.failure'),
        },
      ),
      'How does it end?': {
        Type: 'Choice',
        Choices: [{ Variable: '$.request.kind', StringEquals: 'fails', Next: 'Say why' }],
        Default: 'Report',
      },
      'Say why': task(
        'answer',
        { value: { message: failure.cause } },
        { ResultPath: '$.explained', Next: 'Failed' },
      ),
      Failed: { Type: 'Fail', Error: failure.error, CausePath: '$.explained.message' },
      Report: {
        Type: 'Pass',
        Parameters: {
          report: {
            'execution.$': '$.execution',
            'counted.$': '$.counter',
            'parts.$': '$.done',
            'asked.$': '$.passed.asked',
            'failure.$': '$.failure',
            'gaveUp.$': '$.gaveUp',
          },
        },
        Next: 'Done',
      },
      Done: { Type: 'Succeed', OutputPath: '$.report' },
      Unexpected: { Type: 'Fail', Error: 'Unexpected', Cause: 'a task did not end as it should' },
    },
  };
}

function createPart(
  task: (order: WitnessOrder['order'], fields: State, rest: State) => State,
): State {
  return {
    ProcessorConfig: { Mode: 'INLINE' },
    StartAt: 'A part',
    States: {
      'A part': task(
        'step',
        { 'total.$': '$.part.total', 'done.$': '$.part.done' },
        { ResultPath: '$.part', Next: 'Is it done?' },
      ),
      'Is it done?': {
        Type: 'Choice',
        Choices: [{ Variable: '$.part.isDone', BooleanEquals: true, Next: 'The part is done' }],
        Default: 'A part',
      },
      'The part is done': { Type: 'Pass', OutputPath: '$.part', End: true },
    },
  };
}
