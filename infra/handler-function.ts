import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import {
  Architecture,
  type Code,
  Function as LambdaFunction,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Duration, RemovalPolicy } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { BUNDLED_HANDLER } from './bundle-handler.ts';
import { type JobNetwork, letAttach } from './job-network.ts';
import type { Permission } from './permissions.ts';
import { allow, type ResourceArns } from './policy-statements.ts';

export interface HandlerFunctionProps {
  readonly code: Code;
  readonly environment: Readonly<Record<string, string>>;
  readonly memorySize: number;
  readonly timeout: Duration;
  readonly permissions: readonly Permission[];
  /** What the permissions are about; the log group is added here. */
  readonly resources: ResourceArns;
  readonly removalPolicy: RemovalPolicy;
  /** Of its logs; undefined: the key of CloudWatch Logs. */
  readonly encryptionKey: IKey | undefined;
  /** What it is attached to; undefined: to no network of the account. */
  readonly network: JobNetwork | undefined;
}

/** A function with a log group and a role of its own, and no right that is not listed. */
export class HandlerFunction extends Construct {
  readonly function: LambdaFunction;

  constructor(scope: Construct, id: string, props: HandlerFunctionProps) {
    super(scope, id);
    const logGroup = new LogGroup(this, 'Logs', {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: props.removalPolicy,
      ...(props.encryptionKey !== undefined && { encryptionKey: props.encryptionKey }),
    });
    // A role of ours: the one that CDK would make comes with a policy on every log group.
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
    });
    allow(role, props.permissions, { ...props.resources, 'log-group': [logGroup.logGroupArn] });
    if (props.network !== undefined) letAttach(role);
    this.function = new LambdaFunction(this, 'Function', {
      code: props.code,
      handler: BUNDLED_HANDLER,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: props.memorySize,
      timeout: props.timeout,
      environment: { ...props.environment, NODE_OPTIONS: '--enable-source-maps' },
      role,
      logGroup,
      ...props.network,
    });
  }
}
