import {
  CloudFormationServiceException,
  DescribeStacksCommand,
  type CloudFormationClient,
} from '@aws-sdk/client-cloudformation';

export interface StackDescription {
  readonly status: string;
  readonly outputs: Readonly<Record<string, string>>;
}

/** Undefined where there is no such stack. */
export async function describeStack(
  client: CloudFormationClient,
  StackName: string,
): Promise<StackDescription | undefined> {
  try {
    const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName }));
    const [stack] = Stacks;
    const status = stack?.StackStatus ?? 'DELETE_COMPLETE';
    if (status === 'DELETE_COMPLETE') return undefined;
    const outputs = (stack?.Outputs ?? []).map(
      ({ OutputKey, OutputValue }) => [OutputKey ?? '', OutputValue ?? ''] as const,
    );
    return { status, outputs: Object.fromEntries(outputs) };
  } catch (error) {
    // CloudFormation has no error of its own for it.
    const isMissing =
      error instanceof CloudFormationServiceException && /does not exist/.test(error.message);
    if (isMissing) return undefined;
    throw error;
  }
}
