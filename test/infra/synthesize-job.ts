import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { App, Stack, Stage } from 'aws-cdk-lib/core';
import { StreamJob } from '../../infra/stream-job.ts';
import type { OperatorProps, StreamJobProps } from '../../infra/stream-job-props.ts';
import { provisionedStream } from '../../infra/stream-source.ts';

/** What tests put in the place of a bundle: they look at the template, not at the code. */
export const withoutBundling = (): Code => Code.fromInline('export const handler = () => {};');

export function operatorProps(changes: Partial<OperatorProps> = {}): OperatorProps {
  return { id: 'delays', entry: 'functions/delays/handler.ts', ...changes };
}

/** An app whose folder goes away when its template has been read. */
export function createApp(context: Readonly<Record<string, unknown>> = {}): App {
  return new App({
    context: { ...context },
    analyticsReporting: false,
    // CDK's own check costs a second in each test file; one test of the demonstration turns it on.
    builtinCloudFormationValidation: false,
    outdir: mkdtempSync(join(tmpdir(), 'holdfast-synth-')),
  });
}

export interface JobInStack {
  readonly stack: Stack;
  readonly job: StreamJob;
}

/** A job named `flights` as `Job` of the stack `Test`. `props` may need the stack. */
export function createJob(
  props: Partial<StreamJobProps> | ((stack: Stack) => Partial<StreamJobProps>) = {},
): JobInStack {
  const app = createApp();
  const stack = new Stack(app, 'Test');
  try {
    const job = new StreamJob(stack, 'Job', {
      jobName: 'flights',
      source: provisionedStream({ shards: 2 }),
      operators: [operatorProps()],
      bundle: withoutBundling,
      ...(typeof props === 'function' ? props(stack) : props),
    });
    return { stack, job };
  } catch (error) {
    removeFolder(app);
    throw error;
  }
}

export interface Resource {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, unknown>>;
  readonly DependsOn?: readonly string[];
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

export interface ReadTemplate {
  /** By logical id. */
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly Outputs?: Readonly<Record<string, { readonly Value: unknown }>>;
}

/** The template of the stack. Once for each stack: its app leaves no files behind. */
export function readTemplate(stack: Stack): ReadTemplate {
  const template = Template.fromStack(stack).toJSON() as unknown as ReadTemplate;
  removeFolder(Stage.of(stack) as App);
  return template;
}

export function listResources(stack: Stack): Readonly<Record<string, Resource>> {
  return readTemplate(stack).Resources;
}

function removeFolder(app: App): void {
  rmSync(app.outdir, { recursive: true });
}

/** The resources of one type, with their logical ids. */
export function listResourcesOfType(
  resources: Readonly<Record<string, Resource>>,
  type: string,
): (Resource & { readonly logicalId: string })[] {
  return Object.entries(resources)
    .filter(([, resource]) => resource.Type === type)
    .map(([logicalId, resource]) => ({ logicalId, ...resource }));
}
