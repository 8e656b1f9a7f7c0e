import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import { Annotations, ArnFormat, type RemovalPolicy, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { type ConfigurationProblem, showValue } from '../shared/config/configuration-error.ts';
import { LOGS_KEY_ACTIONS } from './permissions.ts';

/** Under whose key a job's data lies: one that the job creates, or one that is there. */
export type JobEncryption = 'customer-managed' | IKey;

/** What is wrong with the prop: Node runs the sources without checking their types. */
export function checkEncryption(encryption: unknown): ConfigurationProblem[] {
  const isKnown =
    encryption === undefined ||
    encryption === 'customer-managed' ||
    (typeof encryption === 'object' && encryption !== null && 'keyArn' in encryption);
  if (isKnown) return [];
  return [
    {
      name: 'encryption',
      got: showValue(encryption),
      expected: "'customer-managed' or a key of KMS",
      remedy: 'leave it out for the keys of AWS, or give one of these',
    },
  ];
}

export interface JobKeyProps {
  readonly jobName: string;
  readonly removalPolicy: RemovalPolicy;
}

/**
 * The key of a job's tables, bucket, stream and logs; undefined where AWS's own keys do. It goes when the data goes: what
 * is encrypted with a key that is gone is gone, too. Its account's policies say who may use it; CloudWatch Logs, which uses
 * it for nobody, is let in by its own policy.
 */
export function createJobKey(
  scope: Construct,
  encryption: JobEncryption | undefined,
  { jobName, removalPolicy }: JobKeyProps,
): IKey | undefined {
  if (encryption === undefined) return undefined;
  const key =
    encryption === 'customer-managed'
      ? new Key(scope, 'Key', {
          description: `Data of job ${jobName}`,
          enableKeyRotation: true,
          removalPolicy,
        })
      : encryption;
  const { statementAdded } = key.addToResourcePolicy(letLogsIn(Stack.of(scope)));
  if (!statementAdded) {
    Annotations.of(scope).addWarningV2(
      'holdfast:key-policy',
      `the policy of key ${key.keyArn} is not this app's: without a statement in it that lets CloudWatch Logs of this region use it for log groups of this account, the log groups cannot be created`,
    );
  }
  return key;
}

function letLogsIn(stack: Stack): PolicyStatement {
  const { region, urlSuffix } = stack;
  // Any group of the account: those of the job have their names when they are created, which takes the key.
  const groups = stack.formatArn({
    service: 'logs',
    resource: 'log-group',
    resourceName: '*',
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  return new PolicyStatement({
    principals: [new ServicePrincipal(`logs.${region}.${urlSuffix}`)],
    actions: [...LOGS_KEY_ACTIONS],
    resources: ['*'], // of a key's policy: the key
    conditions: { ArnLike: { 'kms:EncryptionContext:aws:logs:arn': groups } },
  });
}
