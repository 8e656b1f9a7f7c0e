import {
  Choice,
  Condition,
  Fail,
  JsonPath,
  Pass,
  type State,
  type StateMachine,
  Succeed,
  type TaskStateBase,
} from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import type { SavepointStep } from '../shared/config/workflow-steps.ts';
import { createWorkflow, type WorkflowProps } from './workflow-machine.ts';
import { createStepTask, loopUntilDone, type StepFields } from './workflow-task.ts';

/** How often a step is tried again; giving up must not fail, for half an hour. */
const ATTEMPTS = 8;
const GIVE_UP_ATTEMPTS = 30;

/**
 * Makes a savepoint: register → (stop: hold at an exact cut) → cut → merge → verify → complete → (stop: the hold stays) →
 * copy into the backup. Whatever fails up to there gives up: the hold is let go, and what was pending is dropped.
 *
 * Input: `{ "label": …, "note"?: …, "tags"?: {…}, "stops"?: true }`.
 */
export class SavepointWorkflow extends Construct {
  readonly stateMachine: StateMachine;
  readonly #props: WorkflowProps;
  readonly #giveUp: TaskStateBase;

  constructor(scope: Construct, id: string, props: WorkflowProps) {
    super(scope, id);
    this.#props = props;
    this.#giveUp = this.#createGiveUp();
    const begin = new Pass(this, 'Begin', {
      // Everything that a path names later is there from the start: a path that leads nowhere cannot be caught.
      parameters: {
        request: JsonPath.objectAt('$'),
        execution: JsonPath.stringAt('$$.Execution.Name'),
        hold: { id: '', jobVersion: 0, tries: 0 },
        merge: { isDone: false, doneBytes: 0, totalBytes: 0, rounds: 0 },
        verified: { isDone: false, nextFile: 0, files: 0, bytes: 0, keys: 0, rounds: 0 },
        copy: { isDone: false, rounds: 0 },
      },
    });
    const register = this.#step(
      'Register',
      'savepoint.register',
      { request: '$.request', execution: '$.execution' },
      '$.registered',
    );
    const stops = Condition.booleanEquals('$.registered.order.stops', true);
    const cut = this.#createCut(stops);
    begin
      .next(register)
      .next(new Choice(this, 'Stops the job?').when(stops, this.#createHold(cut)).otherwise(cut));
    this.stateMachine = createWorkflow(this, begin, props, 'Savepoints');
  }

  /** Holds the job and lets it go again until it was held at an exact cut (C3). */
  #createHold(next: State): State {
    const choose = this.#step(
      'Choose a hold',
      'savepoint.choose-hold',
      { order: '$.registered.order', hold: '$.hold' },
      '$.hold',
    );
    const hold = { hold: '$.hold' };
    const take = this.#step('Take the hold', 'savepoint.take-hold', {
      ...{ order: '$.registered.order', ...hold },
    });
    const fence = this.#step('Fence the channels', 'savepoint.fence', hold, '$.fenced');
    const letGo = this.#step('Let go', 'savepoint.let-go', hold);
    choose
      .next(take)
      .next(fence)
      .next(
        new Choice(this, 'Held at an exact cut?')
          .when(Condition.booleanEquals('$.fenced.isExact', true), next)
          .otherwise(letGo.next(choose)),
      );
    return choose;
  }

  #createCut(stops: Condition): State {
    const work = { work: '$.registered.work' };
    const cut = this.#step('Cut', 'savepoint.cut', { order: '$.registered.order', ...work });
    const merge = this.#step(
      'Merge the files',
      'savepoint.merge',
      { ...work, merge: '$.merge' },
      '$.merge',
    );
    const verify = this.#step(
      'Verify the files',
      'savepoint.verify',
      { ...work, verified: '$.verified' },
      '$.verified',
    );
    const complete = this.#step('Complete', 'savepoint.complete', work, '$.savepoint');
    const stop = this.#step('Stop the job', 'savepoint.stop', { hold: '$.hold' });
    const copy = this.#createCopy();
    cut.next(merge);
    loopUntilDone(this, merge, '$.merge', verify);
    loopUntilDone(this, verify, '$.verified', complete);
    complete.next(new Choice(this, 'Stays stopped?').when(stops, stop.next(copy)).otherwise(copy));
    return cut;
  }

  /** What fails here takes nothing back: the savepoint is complete, and the job may stand still at it. */
  #createCopy(): State {
    const copy = createStepTask(this, 'Copy into the backup', {
      ...{ function: this.#props.function, step: 'savepoint.copy', attempts: ATTEMPTS },
      fields: { savepoint: '$.savepoint', copy: '$.copy' },
      resultPath: '$.copy',
    }).addCatch(
      new Fail(this, 'Not copied', {
        error: 'SavepointNotCopied',
        cause:
          'the savepoint is complete, but its copy in the backup is not: the log of the function that does the steps says why. The coordinator goes on copying it',
      }),
      { resultPath: '$.failure' },
    );
    loopUntilDone(this, copy, '$.copy', new Succeed(this, 'Done', { outputPath: '$.savepoint' }));
    return copy;
  }

  /** No Catch here: an execution that ends in this state is redriven, and gives up then. */
  #createGiveUp(): TaskStateBase {
    const giveUp = createStepTask(this, 'Give up', {
      function: this.#props.function,
      step: 'savepoint.give-up',
      fields: { execution: '$.execution', hold: '$.hold', failure: '$.failure' },
      resultPath: '$.givenUp',
      attempts: GIVE_UP_ATTEMPTS,
    });
    giveUp.next(
      new Fail(this, 'Failed', {
        error: 'SavepointFailed',
        causePath: JsonPath.stringAt('$.givenUp.message'),
      }),
    );
    return giveUp;
  }

  #step(id: string, step: SavepointStep, fields: StepFields, resultPath?: string): TaskStateBase {
    return createStepTask(this, id, {
      ...{ function: this.#props.function, step, fields, attempts: ATTEMPTS },
      ...(resultPath === undefined ? {} : { resultPath }),
    }).addCatch(this.#giveUp, { resultPath: '$.failure' });
  }
}
