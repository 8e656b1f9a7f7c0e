import { describe, expect, it } from 'vitest';

import { readScheduleSettings } from '../../../../localstack/embedded/scheduler/schedule-settings.ts';
import { PropertyReader } from '../../../../localstack/embedded/template/property-reader.ts';
import type { TemplateObject } from '../../../../localstack/embedded/template/template-value.ts';
import { pollUntilTrue } from '../poll-until.ts';
import { functionOf, role, startStack, writeStack } from '../stack/fixture-stack.ts';

/** A schedule of the function `Target` of the same stack. */
function scheduleOf(changes: TemplateObject = {}, target: TemplateObject = {}): TemplateObject {
  return {
    Type: 'AWS::Scheduler::Schedule',
    Properties: {
      ScheduleExpression: 'rate(1 minute)',
      FlexibleTimeWindow: { Mode: 'OFF' },
      Target: {
        Arn: { 'Fn::GetAtt': ['Target', 'Arn'] },
        RoleArn: { 'Fn::GetAtt': ['Role', 'Arn'] },
        ...target,
      },
      ...changes,
    },
  };
}

function stackWith(resources: TemplateObject, handler = 'echo.handler'): string {
  return writeStack({ Role: role, Target: functionOf(handler), ...resources });
}

describe('a schedule of a stack', () => {
  it('runs its function on its input, found by logical id, name and ARN', async () => {
    const template = writeStack(
      {
        Role: role,
        Target: functionOf('echo.handler'),
        Group: { Type: 'AWS::Scheduler::ScheduleGroup', Properties: { Name: 'ours' } },
        Timer: scheduleOf(
          {
            Name: 'beat',
            GroupName: { Ref: 'Group' },
            Description: 'a beat',
            ScheduleExpression: 'rate(2 hours)',
            ScheduleExpressionTimezone: 'Etc/UTC',
            State: 'ENABLED',
          },
          {
            Input: '{"what":"<aws.scheduler.schedule-arn>"}',
            RetryPolicy: { MaximumRetryAttempts: 2, MaximumEventAgeInSeconds: 60 },
          },
        ),
      },
      {
        Name: { Value: { Ref: 'Timer' } },
        Arn: { Value: { 'Fn::GetAtt': ['Timer', 'Arn'] } },
        Group: { Value: { 'Fn::GetAtt': ['Group', 'Arn'] } },
      },
    );
    const aws = await startStack(template, { scheduleSpeed: 0 });
    const arn = 'arn:aws:scheduler:us-east-1:000000000000:schedule/ours/beat';
    expect(aws.outputs).toEqual({
      Name: 'beat',
      Arn: arn,
      Group: 'arn:aws:scheduler:us-east-1:000000000000:schedule-group/ours',
    });
    expect(aws.schedules.list()).toHaveLength(1);
    expect(aws.schedules.get('Timer')).toMatchObject({
      name: 'beat',
      arn,
      intervalMs: 7_200_000,
      isEnabled: true,
      functionArn: aws.functions.get('Target').arn,
    });
    for (const name of ['Timer', 'beat', arn]) {
      const { attempts, result } = await aws.schedules.fire(name);
      expect(attempts).toBe(1);
      const reply = JSON.parse((result as { payload: string }).payload) as { event: unknown };
      expect(reply.event).toEqual({ what: arn });
    }
    expect(aws.functions.get('Target').stats().invocations).toBe(3);
    await expect(aws.schedules.fire('Tinker')).rejects.toThrow(
      'there is no schedule "Tinker"; known: Timer',
    );
  });

  it('ticks by itself, and leaves no process when the stack stops while it does', async () => {
    const aws = await startStack(stackWith({ Timer: scheduleOf() }), { scheduleSpeed: 3_000 });
    const target = aws.functions.get('Target');
    await pollUntilTrue('some ticks', () => target.stats().invocations >= 3);
    await aws.stop();
    const { runs } = aws.schedules.get('Timer').stats();
    expect(target.pids()).toEqual([]);
    await expect(aws.schedules.fire('Timer')).rejects.toThrow('the local AWS is stopping');
    expect(aws.schedules.get('Timer').stats()).toMatchObject({ runs, failures: 0 });
  });

  it('is stopped in the midst of a run', async () => {
    const aws = await startStack(
      stackWith({ Timer: scheduleOf({}, { Input: '{"how":"hang"}' }) }, 'misbehave.handler'),
      { scheduleSpeed: 0 },
    );
    const fired = aws.schedules.fire('Timer');
    const target = aws.functions.get('Target');
    await pollUntilTrue('the invocation', () => target.stats().invocations === 1);
    await aws.stop();
    expect((await fired).result).toMatchObject({ kind: 'rejected', reason: 'stopped' });
    expect(target.pids()).toEqual([]);
  });

  it('tries a function that dies twice more', async () => {
    const aws = await startStack(
      stackWith({ Timer: scheduleOf({}, { Input: '{"how":"exit"}' }) }, 'misbehave.handler'),
      { scheduleSpeed: 0 },
    );
    const run = await aws.schedules.fire('Timer');
    expect(run).toMatchObject({ attempts: 3, result: { kind: 'failed', reason: 'crash' } });
    expect(aws.functions.get('Target').stats().crashes).toBe(3);
  });

  it.each<[string, TemplateObject, string]>([
    [
      'a start date',
      scheduleOf({ StartDate: '2030-01-01T00:00:00Z' }),
      'AWS::Scheduler::Schedule Timer: property "StartDate" is not supported locally',
    ],
    [
      'a dead-letter queue',
      scheduleOf({}, { DeadLetterConfig: { Arn: 'arn:aws:sqs:us-east-1:000000000000:q' } }),
      'property "Target.DeadLetterConfig" is not supported locally',
    ],
    [
      'a target that is no function',
      scheduleOf({}, { Arn: 'arn:aws:scheduler:::aws-sdk:lambda:invoke' }),
      'property "Target.Arn" is "arn:aws:scheduler:::aws-sdk:lambda:invoke", expected the ARN of a Lambda function; other targets are not called locally',
    ],
    [
      'a function of another stack',
      scheduleOf({}, { Arn: 'arn:aws:lambda:us-east-1:000000000000:function:theirs' }),
      'there is no function "arn:aws:lambda:us-east-1:000000000000:function:theirs"; known: Target',
    ],
  ])('is refused with %s', async (_, Timer, message) => {
    await expect(startStack(stackWith({ Timer }))).rejects.toThrow(message);
  });

  it('is refused with a speed that is none, before anything is started', async () => {
    await expect(
      startStack(stackWith({ Timer: scheduleOf() }), { scheduleSpeed: -1 }),
    ).rejects.toThrow('scheduleSpeed is -1');
  });
});

describe('the settings of a schedule', () => {
  const read = (changes: TemplateObject, target: TemplateObject = {}) =>
    readScheduleSettings(
      new PropertyReader('AWS::Scheduler::Schedule Timer', {
        ScheduleExpression: 'rate(5 minutes)',
        FlexibleTimeWindow: { Mode: 'OFF' },
        Target: target,
        ...changes,
      }),
    );

  it('are those of the service where the template says nothing', () => {
    expect(read({})).toEqual({
      intervalMs: 300_000,
      isEnabled: true,
      input: undefined,
      retryAttemptsMax: 185,
      eventAgeMsMax: 86_400_000,
    });
  });

  it('are what the template says, numbers as text included', () => {
    const target = {
      Input: '[1]',
      RetryPolicy: { MaximumRetryAttempts: '0', MaximumEventAgeInSeconds: 60 },
    };
    expect(read({ State: 'DISABLED' }, target)).toEqual({
      intervalMs: 300_000,
      isEnabled: false,
      input: '[1]',
      retryAttemptsMax: 0,
      eventAgeMsMax: 60_000,
    });
  });

  it.each<[string, TemplateObject, TemplateObject, string]>([
    [
      'a cron expression',
      { ScheduleExpression: 'cron(0 12 * * ? *)' },
      {},
      'AWS::Scheduler::Schedule Timer: property "ScheduleExpression" is "cron(0 12 * * ? *)", expected rate(<n> minutes), rate(<n> hours) or rate(<n> days); use a rate; cron and one-time schedules do not run locally',
    ],
    [
      'a one-time schedule',
      { ScheduleExpression: 'at(2030-01-01T00:00:00)' },
      {},
      'property "ScheduleExpression" is "at(2030-01-01T00:00:00)", expected rate(<n> minutes)',
    ],
    [
      'a flexible window',
      { FlexibleTimeWindow: { Mode: 'FLEXIBLE' } },
      {},
      'property "FlexibleTimeWindow.Mode" is "FLEXIBLE", expected OFF',
    ],
    ['a state that is none', { State: 'ON' }, {}, '"ON", expected ENABLED or DISABLED'],
    [
      'input that is no JSON',
      {},
      { Input: 'now' },
      'property "Target.Input" is "now", expected JSON text; Lambda takes nothing else',
    ],
    [
      'more retries than the service allows',
      {},
      { RetryPolicy: { MaximumRetryAttempts: 186 } },
      'property "Target.RetryPolicy.MaximumRetryAttempts" is 186, expected 0 to 185',
    ],
    [
      'less patience than the service allows',
      {},
      { RetryPolicy: { MaximumEventAgeInSeconds: 59 } },
      'property "Target.RetryPolicy.MaximumEventAgeInSeconds" is 59, expected 60 to 86400',
    ],
  ])('are refused with %s', (_, changes, target, message) => {
    expect(() => read(changes, target)).toThrow(message);
  });
});
