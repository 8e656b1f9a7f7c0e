import { CloudFormationValidatePlugin } from 'aws-cdk-lib/core';
import { RootConstruct } from 'constructs';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What is looked at here; everything else is AWS's business. */
export interface CheckedTemplate {
  readonly Outputs?: Readonly<Record<string, object>>;
}

/** What CloudFormation takes from a bucket. */
const templateBytesMax = 1024 * 1024;

// One for all checks: compiling its rules and the schemas of all resource types takes seconds.
const validator = new CloudFormationValidatePlugin();

/**
 * Everything that is wrong with a template, warnings included: `rule where: what`, sorted.
 *
 * The work is done by AWS's own check, which the CDK brings: it knows the schema of each resource type and most rules of
 * cfn-lint. Two things that it lets pass are looked at here: the size, and outputs without a value.
 */
export function checkTemplate(template: CheckedTemplate): string[] {
  const text = JSON.stringify(template);
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-template-'));
  try {
    const templatePath = join(folder, 'template.json');
    writeFileSync(templatePath, text);
    const where = { accountId: '123456789012', region: 'eu-central-1' };
    const { violations } = validator.validate({
      templatePaths: [templatePath],
      stackTemplates: [{ stackConstructPath: 'Template', templatePath, ...where }],
      appConstruct: new RootConstruct(),
    });
    const found = violations.flatMap(({ ruleName, description, violatingResources }) =>
      violatingResources.map(
        ({ resourceLogicalId }) => `${ruleName} ${resourceLogicalId ?? '-'}: ${description}`,
      ),
    );
    return [...found, ...checkSize(text), ...checkOutputs(template)].toSorted();
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function checkSize(text: string): string[] {
  const bytes = Buffer.byteLength(text);
  if (bytes <= templateBytesMax) return [];
  return [`size -: the template has ${bytes} bytes, at most ${templateBytesMax} are deployed`];
}

function checkOutputs({ Outputs = {} }: CheckedTemplate): string[] {
  return Object.entries(Outputs)
    .filter(([, output]) => !('Value' in output))
    .map(([name]) => `output ${name}: it has no value`);
}
