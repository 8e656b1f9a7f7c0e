import {
  Choice,
  Condition,
  Fail,
  type IChainable,
  JsonPath,
  type Map as MapState,
  Pass,
  type State,
  type StateMachine,
  Succeed,
  type TaskStateBase,
} from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import type { RestoreStep } from '../shared/config/workflow-steps.ts';
import { createWorkflow, type WorkflowProps } from './workflow-machine.ts';
import { createParts, createStepTask, loopUntilDone, type StepFields } from './workflow-task.ts';

/** How often a step is tried again: behind the flip there is only forward. */
const ATTEMPTS = 8;
const ATTEMPTS_AFTER_FLIP = 20;
const GIVE_UP_ATTEMPTS = 30;

/** Functions at once: loading writes to one table, a replay invokes operators, which read shards. */
const CONCURRENCY = { load: 8, compare: 8, replay: 10, outputs: 4, sweep: 4 };

const ORDER = { order: '$.order' };
const HOLD = { hold: '$.hold' };
const GENERATION = { ...ORDER, generation: '$.made.generation' };

interface Phase {
  /** Where what fails goes. */
  readonly failsTo: IChainable;
  readonly attempts: number;
}

/**
 * Restores a job (R5), or drills it (R13): look at copies, validate → pin, merge → hold → fence → undo point → reserve → load →
 * compare → flip → replay → bring outputs back → release → sweep. Up to the flip what fails is given up, and the job goes on as
 * it was. A clone (R12) begins with a copy of a manifest of another job.
 *
 * Input: `{ "manifest": <object>, "restore"?: <name>, "allowNonRestoredState"?, "acceptsGaps"?, "areTablesLost"?, "fromBackup"?,
 * "dryRun"?, "clones"? }`.
 */
export class RestoreWorkflow extends Construct {
  readonly stateMachine: StateMachine;
  readonly #props: WorkflowProps;

  constructor(scope: Construct, id: string, props: WorkflowProps) {
    super(scope, id);
    this.#props = props;
    const end = this.#createEnd();
    const begun: Phase = { failsTo: end, attempts: ATTEMPTS };
    const flipped: Phase = { failsTo: end, attempts: ATTEMPTS_AFTER_FLIP };
    const sweep = this.#createSweep(flipped);
    const replay = this.#createReplay(flipped, sweep);
    const { deletion, giveUp } = this.#createRetreat(replay);
    const isDrill = Condition.booleanEquals('$.order.dryRun', true);
    const retreat = new Choice(this, 'Was it a drill?').when(isDrill, deletion).otherwise(giveUp);
    const forward = this.#createGeneration(
      { failsTo: retreat, attempts: ATTEMPTS },
      { isDrill, deletion, replay },
    );
    const copy = (next: State): State =>
      this.#createCopy(begun, { failsTo: retreat, attempts: ATTEMPTS }, next);
    const begin = this.#createBegin(begun, { forward, replay, sweep, copy });
    this.stateMachine = createWorkflow(this, begin, props, 'Restores and drills');
  }

  /** Reads the order, and goes on where an earlier execution of it ended. */
  #createBegin(
    phase: Phase,
    next: {
      readonly forward: State;
      readonly replay: State;
      readonly sweep: State;
      /** What a clone does before the validation. */
      readonly copy: (validate: State) => State;
    },
  ): State {
    const begin = new Pass(this, 'Begin', {
      parameters: {
        request: JsonPath.objectAt('$'),
        execution: JsonPath.stringAt('$$.Execution.Name'),
        order: { restore: JsonPath.stringAt('$$.Execution.Name') },
      },
    });
    const prepare = this.#step(
      'Prepare',
      'restore.prepare',
      { request: '$.request', execution: '$.execution' },
      { ...phase, resultPath: '$.prepared' },
    );
    // Everything that a path names later is there from here on: a path that leads nowhere cannot be caught.
    const layOut = new Pass(this, 'Lay out', {
      parameters: {
        order: JsonPath.objectAt('$.prepared.order'),
        stage: JsonPath.stringAt('$.prepared.stage'),
        hold: JsonPath.objectAt('$.prepared.hold'),
        made: JsonPath.objectAt('$.prepared.made'),
        undo: JsonPath.objectAt('$.prepared.undo'),
        copies: {
          ...{ isDone: false, next: 0, objects: 0, rounds: 0 },
          fellBack: { objects: 0, examples: [] },
          lost: { objects: 0, examples: [] },
        },
        deletion: { isDone: false, operator: '', group: 0, items: 0, rounds: 0 },
        loaded: [],
        compared: [],
        replayed: [],
        swept: [],
      },
    });
    const copies = this.#step(
      'Look at the copies',
      'restore.check-copies',
      { ...ORDER, copies: '$.copies' },
      { ...phase, resultPath: '$.copies' },
    );
    const validate = this.#step('Validate', 'restore.validate', ORDER, phase);
    loopUntilDone(this, copies, '$.copies', validate.next(next.forward));
    begin.next(prepare);
    prepare.next(layOut);
    layOut.next(
      new Choice(this, 'How far is it?')
        .when(Condition.stringEquals('$.stage', 'flipped'), next.replay)
        .when(Condition.stringEquals('$.stage', 'released'), next.sweep)
        .when(Condition.isPresent('$.order.copyOf'), next.copy(copies))
        .otherwise(copies),
    );
    return begin;
  }

  /** R12: the manifest and its files become the clone's own; from there on it is a restore like any other. */
  #createCopy(begun: Phase, phase: Phase, then: State): State {
    const check = this.#step('Validate the clone', 'clone.validate', ORDER, begun);
    const path = { ...phase, resultPath: '$.copy' };
    const begin = this.#step('Pin the cloned job', 'clone.begin', ORDER, path);
    const copy = this.#step('Copy the files', 'clone.copy', { ...ORDER, copy: '$.copy' }, path);
    const finish = this.#step(
      'Finish the copy',
      'clone.finish',
      { ...ORDER, copy: '$.copy' },
      { ...phase, resultPath: '$.order' },
    );
    check.next(begin).next(copy);
    loopUntilDone(this, copy, '$.copy', finish);
    finish.next(then);
    return check;
  }

  /** From what the manifest lists to a generation that is loaded and compared. */
  #createGeneration(
    phase: Phase,
    next: { readonly isDrill: Condition; readonly deletion: State; readonly replay: State },
  ): State {
    const recreate = this.#step(
      'Recreate the job',
      'restore.recreate',
      { ...ORDER, ...HOLD },
      phase,
    );
    const base = { ...phase, resultPath: '$.base' };
    const beginBase = this.#step('Pin the manifest', 'restore.begin-base', ORDER, base);
    const makeBase = this.#step(
      'Merge the files',
      'restore.make-base',
      { ...ORDER, base: '$.base' },
      base,
    );
    const hold = this.#step('Take the hold', 'restore.take-hold', { ...ORDER, ...HOLD }, phase);
    const fence = this.#step('Fence the channels', 'restore.fence', HOLD, phase);
    const undo = this.#step(
      'Write the undo point',
      'restore.write-undo',
      { ...ORDER, ...HOLD },
      { ...phase, resultPath: '$.undo' },
    );
    const reserve = this.#step(
      'Reserve a generation',
      'restore.reserve',
      { ...ORDER, ...HOLD, base: '$.base' },
      { ...phase, resultPath: '$.made' },
    );
    const load = this.#parts('Load the state', 'restore.load', {
      ...{ ...phase, fields: { ...HOLD, ...GENERATION } },
      ...{ itemsPath: '$.made.loads', resultPath: '$.loaded', concurrency: CONCURRENCY.load },
    });
    const compare = this.#parts('Compare the state', 'restore.compare', {
      ...{ ...phase, fields: GENERATION, concurrency: CONCURRENCY.compare },
      ...{ itemsPath: '$.made.compares', resultPath: '$.compared' },
    });
    const flip = this.#step(
      'Flip',
      'restore.flip',
      { ...HOLD, ...GENERATION, compared: '$.compared' },
      phase,
    );
    hold.next(fence).next(undo).next(reserve).next(load).next(compare);
    beginBase.next(makeBase);
    loopUntilDone(
      this,
      makeBase,
      '$.base',
      new Choice(this, 'Is it a drill?').when(next.isDrill, reserve).otherwise(hold),
    );
    compare.next(
      new Choice(this, 'Ends here?')
        .when(next.isDrill, next.deletion)
        .otherwise(flip.next(next.replay)),
    );
    recreate.next(beginBase);
    return new Choice(this, 'Are its tables lost?')
      .when(Condition.booleanEquals('$.order.areTablesLost', true), recreate)
      .otherwise(beginBase);
  }

  /** R6, R10: up to where the job was held, then the hold ends. */
  #createReplay(phase: Phase, sweep: State): State {
    const plan = this.#step(
      'Plan the replay',
      'restore.plan-replay',
      { ...ORDER, ...HOLD },
      { ...phase, resultPath: '$.replays' },
    );
    const replay = this.#parts('Replay', 'restore.replay', {
      ...{ ...phase, fields: { ...ORDER, ...HOLD }, concurrency: CONCURRENCY.replay },
      ...{ itemsPath: '$.replays.parts', resultPath: '$.replayed' },
    });
    const planOutputs = this.#step('Look for lost outputs', 'restore.plan-outputs', GENERATION, {
      ...phase,
      resultPath: '$.outputs',
    });
    const outputs = this.#parts('Bring outputs back', 'restore.bring-back', {
      ...{ ...phase, fields: GENERATION, concurrency: CONCURRENCY.outputs },
      ...{ itemsPath: '$.outputs.parts', resultPath: '$.broughtBack' },
    });
    const release = this.#step('Release', 'restore.release', { ...HOLD, ...GENERATION }, phase);
    plan.next(replay).next(planOutputs).next(outputs).next(release).next(sweep);
    return plan;
  }

  #createSweep(phase: Phase): State {
    const plan = this.#step('Plan the sweep', 'restore.plan-sweep', GENERATION, {
      ...phase,
      resultPath: '$.sweeps',
    });
    const sweep = this.#parts('Sweep the sinks', 'restore.sweep', {
      ...{ ...phase, fields: GENERATION, concurrency: CONCURRENCY.sweep },
      ...{ itemsPath: '$.sweeps.parts', resultPath: '$.swept' },
    });
    const finish = this.#step(
      'Finish',
      'restore.finish',
      {
        ...{ ...GENERATION, undo: '$.undo', copies: '$.copies' },
        ...{ loaded: '$.loaded', replayed: '$.replayed', swept: '$.swept' },
      },
      { ...phase, resultPath: '$.report' },
    );
    plan
      .next(sweep)
      .next(finish)
      .next(new Succeed(this, 'Done', { outputPath: '$.report' }));
    return plan;
  }

  /** What a failure before the flip leads to, and the end of a drill: what it has loaded is deleted, failed or not. */
  #createRetreat(replay: State): { readonly deletion: State; readonly giveUp: State } {
    // No Catch here: an execution that ends in this state is redriven, and gives up then.
    const giveUp = createStepTask(this, 'Give up', {
      ...{ function: this.#props.function, step: 'restore.give-up', attempts: GIVE_UP_ATTEMPTS },
      fields: {
        ...{ ...ORDER, ...HOLD, made: '$.made' },
        ...{ deletion: '$.deletion', failure: '$.failure' },
      },
      resultPath: '$.givenUp',
    });
    const failed = new Fail(this, 'Failed', {
      error: 'RestoreFailed',
      causePath: JsonPath.stringAt('$.givenUp.message'),
    });
    giveUp.next(
      // R5: whoever finds the flip done goes forward.
      new Choice(this, 'Has it flipped?')
        .when(Condition.booleanEquals('$.givenUp.isFlipped', true), replay)
        .otherwise(failed),
    );
    const phase = { failsTo: giveUp, attempts: ATTEMPTS };
    const deletion = this.#step(
      'Delete what the drill has loaded',
      'drill.delete',
      { ...GENERATION, deletion: '$.deletion' },
      { ...phase, resultPath: '$.deletion' },
    );
    const finish = this.#step(
      'Finish the drill',
      'drill.finish',
      {
        ...{ ...ORDER, copies: '$.copies', made: '$.made' },
        ...{ loaded: '$.loaded', compared: '$.compared' },
      },
      { ...phase, resultPath: '$.report' },
    );
    finish.next(new Succeed(this, 'Drilled', { outputPath: '$.report' }));
    loopUntilDone(
      this,
      deletion,
      '$.deletion',
      new Choice(this, 'Has the drill failed?')
        .when(Condition.isPresent('$.failure'), giveUp)
        .otherwise(finish),
    );
    return { deletion, giveUp };
  }

  /** Ends with words: before anything was begun, or behind the flip. */
  #createEnd(): State {
    const unexplained = new Fail(this, 'Unexplained', {
      error: 'RestoreNotFinished',
      cause:
        'the restore has failed, and how far it came could not be told; start it again under the same name: it goes on from there',
    });
    const explain = createStepTask(this, 'Explain', {
      ...{ function: this.#props.function, step: 'restore.explain', attempts: ATTEMPTS },
      fields: { restore: '$.order.restore', failure: '$.failure' },
      resultPath: '$.explained',
    }).addCatch(unexplained, { resultPath: '$.failure' });
    explain.next(
      new Fail(this, 'Not finished', {
        error: 'RestoreNotFinished',
        causePath: JsonPath.stringAt('$.explained.message'),
      }),
    );
    return explain;
  }

  #step(
    id: string,
    step: RestoreStep,
    fields: StepFields,
    { failsTo, ...phase }: Phase & { readonly resultPath?: string },
  ): TaskStateBase {
    return createStepTask(this, id, {
      ...{ function: this.#props.function, step, fields, ...phase },
    }).addCatch(failsTo, { resultPath: '$.failure' });
  }

  #parts(
    id: string,
    step: RestoreStep,
    {
      failsTo,
      ...parts
    }: Phase & {
      readonly fields: StepFields;
      readonly itemsPath: string;
      readonly resultPath: string;
      readonly concurrency: number;
    },
  ): MapState {
    const { function: handler } = this.#props;
    return createParts(this, id, { function: handler, step, ...parts }).addCatch(failsTo, {
      resultPath: '$.failure',
    });
  }
}
