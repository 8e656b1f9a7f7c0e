import { readScheduleSettings } from '../scheduler/schedule-settings.ts';
import { startSchedule } from '../scheduler/schedule.ts';
import { physicalName } from '../template/physical-name.ts';
import { inert, nested, used } from '../template/property-table.ts';
import { findFunction } from './function-resource.ts';
import type { ResourceKind } from './resource-kind.ts';

const DEFAULT_GROUP = 'default';

/** `AWS::Scheduler::Schedule` with a rate and a function of the same template as its target. */
export const scheduleResource: ResourceKind = {
  properties: {
    Name: used,
    GroupName: used,
    ScheduleExpression: used,
    State: used,
    FlexibleTimeWindow: nested({ Mode: used }),
    Target: nested({
      Arn: used,
      RoleArn: used,
      Input: used,
      RetryPolicy: nested({ MaximumRetryAttempts: used, MaximumEventAgeInSeconds: used }),
    }),
    ScheduleExpressionTimezone: inert('a rate knows no time zone'),
    Description: inert('nothing reads it'),
    KmsKeyArn: inert('nothing here is stored longer than the process lives'),
  },
  create({ logicalId, properties }, services) {
    const { place, lambdaHost, pace, nowMs, functions, schedules, scheduleSpeed } = services;
    const name = properties.textOr('Name', physicalName(place, logicalId, { lengthMax: 64 }));
    const group = properties.textOr('GroupName', DEFAULT_GROUP);
    const arn = `arn:aws:scheduler:${place.region}:${place.accountId}:schedule/${group}/${name}`;
    const target = properties.object('Target');
    if (target === undefined) throw properties.refuse('Target', 'an object with Arn and RoleArn');
    // Only to refuse a schedule without a role, as AWS does.
    target.text('RoleArn');
    const targetArn = target.text('Arn');
    if (!/^arn:[^:]*:lambda:[^:]*:[^:]*:function:[^:]+$/.test(targetArn)) {
      throw target.refuse(
        'Arn',
        'the ARN of a Lambda function',
        'other targets are not called locally',
      );
    }
    const lambda = findFunction(functions, targetArn);
    const schedule = startSchedule({
      logicalId,
      name,
      arn,
      functionArn: lambda.arn,
      settings: readScheduleSettings(properties),
      place,
      speed: scheduleSpeed,
      pace,
      invoke: (event) => lambda.invoke(event),
      nowMs,
      log: (line) => lambdaHost.log(`[${logicalId}] ${line}`),
    });
    schedules.push(schedule);
    return Promise.resolve({ physicalId: name, attributes: { Arn: arn } });
  },
};
