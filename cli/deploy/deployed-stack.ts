import { readJobNames, type JobNames } from '../../shared/config/job-names.ts';
import { listJobs, readTemplate, type Template, type TemplateJob } from './job-template.ts';

/** A stack, as CloudFormation has it. */
export interface DeployedStack {
  readonly status: string;
  readonly templateText: string;
  readonly template: Template;
  readonly jobs: readonly TemplateJob[];
  /** What its jobs say of themselves. */
  readonly names: readonly JobNames[];
}

/** Undefined where there is no stack of this name, or one whose first deployment has failed or not begun. */
export async function readDeployedStack(StackName: string): Promise<DeployedStack | undefined> {
  const { CloudFormationClient, DescribeStacksCommand, GetTemplateCommand } =
    await import('@aws-sdk/client-cloudformation');
  const client = new CloudFormationClient();
  try {
    const { Stacks } = await client.send(new DescribeStacksCommand({ StackName }));
    const stack = Stacks?.[0];
    const status = stack?.StackStatus ?? '';
    if (stack === undefined || neverDeployed.has(status)) return undefined;
    const command = new GetTemplateCommand({ StackName, TemplateStage: 'Original' });
    const { TemplateBody = '' } = await client.send(command);
    const template = readTemplate(TemplateBody, `the template of stack ${StackName}`);
    return {
      ...{ status, template, templateText: TemplateBody, jobs: listJobs(template) },
      names: (stack.Outputs ?? []).flatMap(
        ({ OutputValue }) => readJobNames(OutputValue ?? '') ?? [],
      ),
    };
  } catch (thrown) {
    if (isNotThere(thrown)) return undefined;
    throw thrown;
  } finally {
    client.destroy();
  }
}

const neverDeployed: ReadonlySet<string> = new Set([
  'REVIEW_IN_PROGRESS',
  'ROLLBACK_COMPLETE',
  'DELETE_COMPLETE',
]);

/** CloudFormation has no error of its own for it. */
function isNotThere(thrown: unknown): boolean {
  return (
    thrown instanceof Error &&
    thrown.name === 'ValidationError' &&
    /does not exist/.test(thrown.message)
  );
}
