import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import {
  Schedule,
  ScheduleExpression,
  ScheduleTargetInput,
  TimeWindow,
} from 'aws-cdk-lib/aws-scheduler';
import { ArnFormat, type Duration, Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { SCHEDULE_PERMISSIONS } from './permissions.ts';
import { allow } from './policy-statements.ts';

export interface FunctionScheduleProps {
  readonly function: IFunction;
  /** Whole minutes, hours or days, at least a minute. The first time is when the schedule is created. */
  readonly every: Duration;
  /**
   * How long a call that Lambda does not take is worth another try, one minute to one day.
   *
   * @default - until the next one is due, within these bounds
   */
  readonly maxEventAge?: Duration;
  readonly description: string;
  /**
   * What the function is sent.
   *
   * @default {}
   */
  readonly input?: object;
}

const SECONDS_MIN = 60;
const SECONDS_MAX = 86_400;

/** How often Lambda is asked again to take a call. What the function then does is retried by Lambda: twice. */
const RETRY_ATTEMPTS = 5;

/**
 * Invokes a function again and again. At least once each time, asynchronously: two calls may overlap or come twice, so the
 * function must not mind.
 */
export class FunctionSchedule extends Construct {
  readonly schedule: Schedule;

  constructor(scope: Construct, id: string, props: FunctionScheduleProps) {
    super(scope, id);
    const role = this.#createRole(props.function);
    const ageSeconds = (props.maxEventAge ?? props.every).toSeconds();
    this.schedule = new Schedule(this, 'Schedule', {
      schedule: ScheduleExpression.rate(props.every),
      timeWindow: TimeWindow.off(),
      description: props.description,
      // A target of ours: the one that CDK has would also let the role invoke every version of the function.
      target: {
        bind: () => ({
          arn: props.function.functionArn,
          role,
          input: ScheduleTargetInput.fromObject({ ...props.input }),
          retryPolicy: {
            maximumRetryAttempts: RETRY_ATTEMPTS,
            maximumEventAgeInSeconds: Math.min(Math.max(ageSeconds, SECONDS_MIN), SECONDS_MAX),
          },
        }),
      },
    });
    // The first call comes with the schedule: the role must have its right by then.
    this.schedule.node.addDependency(role);
  }

  #createRole(target: IFunction): Role {
    const stack = Stack.of(this);
    const group = stack.formatArn({
      service: 'scheduler',
      resource: 'schedule-group',
      resourceName: 'default',
      arnFormat: ArnFormat.SLASH_RESOURCE_NAME,
    });
    const role = new Role(this, 'Role', {
      // For schedules of this account and group alone, so that nobody else's can borrow the role.
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
        conditions: {
          StringEquals: { 'aws:SourceAccount': stack.account, 'aws:SourceArn': group },
        },
      }),
    });
    const resources = { 'scheduled-function': [target.functionArn] };
    allow(role, SCHEDULE_PERMISSIONS, resources);
    return role;
  }
}
