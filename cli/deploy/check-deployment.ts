import { isDeepStrictEqual } from 'node:util';
import type { Manifest, OperatorContract } from '../../shared/core/manifest.ts';
import type { Job } from '../../shared/ports/control-store.ts';
import { compareContracts } from '../../shared/runtime/restore/compare-contracts.ts';
import { findLostResources, type Problem } from './compare-templates.ts';
import type { Template, TemplateJob } from './job-template.ts';

/** The code of an operator, asked before it is deployed. */
export type AskedCode =
  | { readonly kind: 'contract'; readonly contract: OperatorContract }
  /** It refuses what the deployment tells it. */
  | { readonly kind: 'refused'; readonly operator: string; readonly reason: string }
  /** It cannot run here. */
  | { readonly kind: 'unknown'; readonly operator: string; readonly reason: string };

/** All that is known before a deployment. */
export interface DeploymentFacts {
  readonly next: { readonly template: Template; readonly job: TemplateJob };
  /** Undefined where the stack is not there yet. */
  readonly deployed:
    { readonly template: Template; readonly job: TemplateJob | undefined } | undefined;
  /** Undefined where the job was never deployed. */
  readonly job: Job | undefined;
  /** What the job has read so far; undefined where its marker does not say so. */
  readonly streamArn: string | undefined;
  /** The newest one; undefined where there is none. */
  readonly manifest: Pick<Manifest, 'operators' | 'maxParallelism'> | undefined;
  readonly code: readonly AskedCode[];
  readonly removable: ReadonlySet<string>;
}

export interface DeploymentCheck {
  readonly problems: readonly Problem[];
  /** What stands against nothing. */
  readonly notes: readonly string[];
}

/** Looks for everything that stands against a deployment, so that one look tells all that there is to do. */
export function checkDeployment(facts: DeploymentFacts): DeploymentCheck {
  const { next, deployed, job, code, removable } = facts;
  const notes: string[] = [];
  const problems: Problem[] = [
    ...checkHold(job),
    ...checkName(next.job, deployed?.job),
    ...(job === undefined ? [] : checkContracts(next.job, job)),
    ...checkStream(facts),
    ...(deployed === undefined
      ? []
      : findLostResources(deployed.template, next.template, removable)),
    ...code.flatMap((asked) =>
      asked.kind === 'refused'
        ? [
            {
              text: `the code of operator ${asked.operator} refuses its deployment: ${asked.reason}`,
              remedy: 'make the code and the StreamJob agree',
            },
          ]
        : [],
    ),
    ...checkStates(facts),
  ];
  for (const asked of code) {
    if (asked.kind !== 'unknown') continue;
    notes.push(
      `the code of operator ${asked.operator} cannot be asked before it is deployed (${asked.reason}): it is asked right after`,
    );
  }
  for (const operator of job?.operators ?? []) {
    if (next.job.operators.includes(operator)) continue;
    notes.push(
      `operator ${operator} goes: its state stays, and savepoints with it can be restored with --allow-non-restored-state alone`,
    );
  }
  for (const operator of next.job.operators) {
    if (job === undefined || job.operators.includes(operator)) continue;
    notes.push(`operator ${operator} is new: it begins at the oldest record of the stream`);
  }
  if (job !== undefined && facts.manifest === undefined) {
    notes.push('the job has no checkpoint yet: there is no stored state to compare the code with');
  }
  return { problems, notes };
}

function checkHold(job: Job | undefined): Problem[] {
  if (job?.hold === undefined) return [];
  const { kind, owner } = job.hold;
  return [
    {
      text: `job ${job.name} is held by ${kind} ${owner}`,
      remedy:
        kind === 'stopped'
          ? 'let it go on with: holdfast resume; or deploy with cdk deploy alone, and restore or resume it then'
          : 'deploy when that is over',
    },
  ];
}

function checkName(next: TemplateJob, deployed: TemplateJob | undefined): Problem[] {
  if (deployed === undefined || deployed.name === next.name) return [];
  return [
    {
      text: `the stack has job ${deployed.name}, the code has job ${next.name}: under another name the stream would be read from its beginning, and every output doubled`,
      remedy: `keep ${deployed.name}; a second job is a second StreamJob`,
    },
  ];
}

/** The rules of the registrar (C1), before anything is changed. */
function checkContracts(next: TemplateJob, job: Job): Problem[] {
  const problems: Problem[] = [];
  if (next.maxParallelism !== job.maxParallelism) {
    problems.push({
      text: `job ${job.name} has maxParallelism ${job.maxParallelism}, the code asks for ${next.maxParallelism}: the key groups of every stored key depend on it`,
      remedy: `deploy ${job.maxParallelism}; it is fixed for the life of a job`,
    });
  }
  const gone = job.operators.filter((operator) => !next.operators.includes(operator));
  const added = next.operators.filter((operator) => !job.operators.includes(operator));
  if (gone.length > 0 && added.length > 0) {
    problems.push({
      text: `operators ${gone.join(', ')} go while ${added.join(', ')} come: under another id an operator has no state, and puts out everything again`,
      remedy:
        'keep the id; if they are different operators, remove the old ones in one deployment and add the new ones in the next',
    });
  }
  return problems;
}

/** Positions of one stream mean nothing in another. */
function checkStream({ next, deployed, streamArn }: DeploymentFacts): Problem[] {
  const { stream } = next.job;
  const remedy = 'deploy it with the stream that it has; a job of another name reads the new one';
  if (typeof stream === 'string' && streamArn !== undefined) {
    if (stream === streamArn) return [];
    return [{ text: `the job reads ${streamArn}, the code gives it ${stream}`, remedy }];
  }
  const before = deployed?.job?.stream;
  if (before === undefined || isDeepStrictEqual(before, stream)) return [];
  return [
    {
      text: `the job reads ${JSON.stringify(before)}, the code gives it ${JSON.stringify(stream)}`,
      remedy,
    },
  ];
}

/** Law 10, between what is stored and the new code. An operator that goes leaves its state where it is. */
function checkStates({ next, manifest, code }: DeploymentFacts): Problem[] {
  if (manifest === undefined) return [];
  const contracts = code.flatMap((asked) => (asked.kind === 'contract' ? [asked.contract] : []));
  const asked = new Set(contracts.map(({ id }) => id));
  return compareStates(
    { ...manifest, operators: manifest.operators.filter(({ id }) => asked.has(id)) },
    contracts,
    next.job.operators,
  );
}

/**
 * What of the stored state the code cannot go on with, as sentences.
 *
 * @param operators those that the deployment has
 */
export function compareStates(
  manifest: Pick<Manifest, 'operators' | 'maxParallelism'>,
  contracts: readonly OperatorContract[],
  operators: readonly string[],
): Problem[] {
  const held = manifest.operators.filter(({ id }) => operators.includes(id));
  const deployed = { maxParallelism: manifest.maxParallelism, operators: contracts };
  return compareContracts({ ...manifest, operators: held }, deployed).map(
    ({ text, remedy, isLoss }) => ({
      text,
      remedy: isLoss
        ? 'declare it again; only a restore leaves state behind, with --allow-non-restored-state'
        : remedy,
    }),
  );
}
