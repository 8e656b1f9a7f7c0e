import { Duration } from 'aws-cdk-lib/core';
import { describe, expect, it } from 'vitest';
import { workflowSteps } from '../../shared/composition/aws/step-handler.ts';
import { PARTS_MAX, RESTORE_STEPS, SAVEPOINT_STEPS } from '../../shared/config/workflow-steps.ts';
import { createJob, listResources, listResourcesOfType } from './synthesize-job.ts';
import { readWorkflows, type Definition, type StateText } from './workflow-definition.ts';

const workflows = readWorkflows();

interface PlacedState {
  readonly name: string;
  readonly state: StateText;
  /** It is part of an iteration. */
  readonly isInner: boolean;
}

function listStates(states: Definition['States'], isInner = false): PlacedState[] {
  return Object.entries(states).flatMap(([name, state]) => [
    { name, state, isInner },
    ...(state.ItemProcessor === undefined ? [] : listStates(state.ItemProcessor.States, true)),
  ]);
}

describe.each(Object.entries(workflows))('the %s workflow', (which, definition) => {
  const states = listStates(definition.States);
  const tasks = states.filter(({ state }) => state.Type === 'Task');

  it('tries again what may pass, what is too much at once for longer, and nothing for ever', () => {
    expect(tasks.length).toBeGreaterThan(8);
    for (const { name, state } of tasks) {
      const rules = state.Retry ?? [];
      expect(rules.at(-1)?.ErrorEquals, name).toEqual(['States.ALL']);
      expect(rules.flatMap(({ ErrorEquals }) => ErrorEquals)).toContain(
        'Lambda.TooManyRequestsException',
      );
      for (const { MaxAttempts } of rules) expect(MaxAttempts, name).toBeLessThanOrEqual(30);
      expect(state.TimeoutSeconds, name).toBe(16 * 60);
    }
  });

  it('never tries again what cannot pass', () => {
    for (const { name, state } of tasks) {
      const [final] = state.Retry!;
      expect(final, name).toMatchObject({ MaxAttempts: 0 });
      expect(final!.ErrorEquals).toEqual([
        'Holdfast.invalid',
        'Holdfast.corrupt',
        'Holdfast.fenced',
        'Holdfast.conflict',
        'Holdfast.internal',
      ]);
    }
  });

  it('catches every error of every state that can fail, but of the one that gives up', () => {
    const failing = states.filter(({ state }) => ['Task', 'Map'].includes(state.Type));
    for (const { name, state, isInner } of failing) {
      // The error of an iteration is the error of its Map; an execution that could not give up is redriven.
      if (isInner || name === 'Give up') expect(state.Catch, name).toBeUndefined();
      else expect(state.Catch?.at(-1)?.ErrorEquals, name).toEqual(['States.ALL']);
    }
  });

  it('says in words why it failed', () => {
    const fails = states.filter(({ state }) => state.Type === 'Fail');
    expect(fails.length).toBeGreaterThan(0);
    for (const { state } of fails) {
      expect(state.CausePath ?? state.Cause).toMatch(
        /^\$\.\w+\.message$|start it again|goes on copying it/,
      );
    }
  });

  it('sends each step exactly what it reads', () => {
    for (const { name, state } of tasks) {
      const { step, ...fields } = state.Parameters as { step: keyof typeof workflowSteps };
      const sent = Object.keys(fields).map((field) => field.replace(/\.\$$/, ''));
      expect(sent.sort(), name).toEqual(Object.keys(workflowSteps[step].input.shape).sort());
    }
  });

  it('has every step of its own', () => {
    const called = tasks.map(({ state }) => state.Parameters?.['step']);
    const steps = which === 'savepoint' ? SAVEPOINT_STEPS : RESTORE_STEPS;
    expect(called.toSorted()).toEqual(steps.toSorted());
  });

  it('runs some parts at once, never without bound', () => {
    for (const { name, state } of states.filter((one) => one.state.Type === 'Map')) {
      expect(state.MaxConcurrency, name).toBeGreaterThan(1);
      expect(state.MaxConcurrency, name).toBeLessThanOrEqual(PARTS_MAX);
    }
  });
});

describe('old state', () => {
  const scheduleOf = (props: Parameters<typeof createJob>[0]) => {
    const schedules = listResourcesOfType(
      listResources(createJob(props).stack),
      'AWS::Scheduler::Schedule',
    );
    return schedules.find(({ logicalId }) => logicalId.startsWith('JobSteps'))?.Properties;
  };

  it('is deleted by the clock, a week after a restore has left it', () => {
    const properties = scheduleOf({});
    expect(properties).toMatchObject({ ScheduleExpression: 'rate(1 hour)', State: 'ENABLED' });
    const { Input } = properties!['Target'] as { Input: string };
    expect(JSON.parse(Input)).toEqual({ step: 'generations.clean', retentionHours: 168 });
    expect(() =>
      workflowSteps['generations.clean'].input.parse({ retentionHours: 168 }),
    ).not.toThrow();
  });

  it('stays as long as the job says, within reason', () => {
    const { Input } = scheduleOf({ generationRetention: Duration.days(30) })!['Target'] as {
      Input: string;
    };
    expect(JSON.parse(Input)).toMatchObject({ retentionHours: 720 });
    expect(() => createJob({ generationRetention: Duration.minutes(30) })).toThrow(
      'generationRetentionHours: got 0.5, expected a whole number of hours from 1 to 8760',
    );
  });
});
